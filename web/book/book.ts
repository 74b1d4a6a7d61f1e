/** The panels of a page of the static edition. */
import { anchorOf, followPages } from "../kit/pages";
import { giveDrawersKeys } from "./drawers";
import { askFirst } from "./guess";
import { FOLDER } from "./load";
import { onTurn, readyForPaper } from "./mode";
import { Panel } from "./panel";
import { followScrollers } from "./scrolling";
import { askForWords } from "./search";

const AHEAD = "800px"; // a panel is loaded before it is in sight

function start() {
  const elements = [...document.querySelectorAll<HTMLElement>(".nv-panel")];
  const panels = new Map<Element, Panel>(elements.map((one) => [one, new Panel(one)]));
  const sight = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) panels.get(target)!.wake();
      }
    },
    { rootMargin: AHEAD },
  );
  for (const element of elements) sight.observe(element);

  // Who opens an answer has guessed: panels of the same topic show their words.
  const answered = (topic: string) => {
    for (const panel of panels.values()) {
      if (panel.asks === topic) panel.showWords();
    }
  };
  for (const question of document.querySelectorAll<HTMLElement>("details[data-asks]")) {
    question.addEventListener("toggle", () => answered(question.dataset.asks!));
  }
  for (const [number, fold] of document
    .querySelectorAll<HTMLDetailsElement>("details[data-guess]")
    .entries()) {
    askFirst(fold, number);
  }
  // In a class the teacher shows it: see classroom/box.ts.
  document.addEventListener("nv-answered", ({ detail }: CustomEventInit<string>) => {
    answered(detail!);
  });

  followPages(document, ({ path, heading }) => {
    const page = path.replace(/\.md$/, ".html");
    return new URL(`../${page}#${anchorOf(heading)}`, FOLDER).href;
  });

  askForWords();
  giveDrawersKeys();
  followScrollers();

  const redraw = () => {
    for (const panel of panels.values()) panel.turn();
  };
  onTurn(redraw);
  readyForPaper(redraw);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
