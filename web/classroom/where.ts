/** Where the class is: an address, and its code for telephones. */
import { made } from "../kit/made";
import type { Where } from "./messages";

/** Fills a place with it; a press shows another address of this computer. */
export async function showWhere(place: HTMLElement): Promise<string> {
  const answer = await fetch("/where.json");
  const { where, note }: Where = await answer.json();
  if (!where.length) {
    place.append(made("p", "url", "This computer is in no network: count hands."));
    return note;
  }
  let now = 0;
  const code = made("div", "code");
  const url = made("p", "url");
  const draw = () => {
    code.innerHTML = where[now].code; // drawn by the server itself
    // long lines break where an address has its parts
    const parts = where[now].url.match(/^\w+:\/\/|:\d.*|[^:/]+/g) ?? [];
    url.replaceChildren(...parts.flatMap((part) => [part, document.createElement("wbr")]));
  };
  place.append(code, url);
  if (where.length > 1) {
    const other = made("button", "", "It does not open? Another address");
    other.addEventListener("click", () => {
      now = (now + 1) % where.length;
      draw();
    });
    place.append(other);
  }
  draw();
  return note;
}
