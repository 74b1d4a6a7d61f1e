/** What cannot be taken back is asked for twice. */

const STAYS = 5000; // milliseconds
const TOO_SOON = 400; // a double click, or a key that is held down

let asked = "";
let since = 0;
let stop = () => {};

/** Whether the next press of it does it. */
export const isAsked = (name: string): boolean => asked === name;

/**
 * Whether a press is the second one. After the first the question stays for some seconds.
 *
 * @param draw shows what is asked
 */
export function pressedTwice(name: string, draw: () => void): boolean {
  if (isAsked(name)) {
    if (Date.now() - since < TOO_SOON) return false;
    stop();
    return true;
  }
  stop();
  asked = name;
  since = Date.now();
  const timer = setTimeout(() => stop(), STAYS);
  stop = () => {
    clearTimeout(timer);
    asked = "";
    stop = () => {};
    draw();
  };
  draw();
  return false;
}
