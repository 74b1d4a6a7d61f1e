// What tests ask of a page: `code` is the file that they loaded last, `box` holds a scene or a figure.

// What is seen.
export function react(drawn, width) {
  globalThis.names = Object.keys(drawn.place);
  neurovizScenes.react(box, drawn, width);
  box.talk ??= neurovizScenes.talkOf(box);
}
export const asked = (...some) => some.map((name) => box.talk.get(name));
export const place = () => Object.fromEntries(names.map((name) => [name, box.talk.get(name)]));
export function middle(selector) {
  const node = document.querySelector(selector), at = node.transform?.baseVal[0], { x, y } = box.getBoundingClientRect();
  const own = (node.querySelector(".ring") ?? node).getBoundingClientRect();
  return at && !node.querySelector(".ring") ? [x + at.matrix.e, y + at.matrix.f] : [own.x + own.width / 2, own.y + own.height / 2];
}
// And where it is for these controls, which are then put back.
export async function middleAt(selector, controls) {
  const before = place(), moved = () => new Promise((then) => setTimeout(then, 400)); // a tween
  box.talk.set(controls);
  await moved();
  const seen = middle(selector);
  box.talk.set(before);
  await moved();
  return seen;
}
export const heights = (fill) => box.querySelector(".nv-fibre") ? [...box.querySelectorAll(".now rect")].map((one) => +one.getAttribute("height")) : [...box.querySelectorAll(`rect[fill="${fill}"]`)].map((one) => +one.getAttribute("height"));
// Its width, and how many colours there are in two parts of it.
export async function picture(base64) {
  const seen = Object.assign(new Image(), { src: `data:image/png;base64,${base64}` });
  await seen.decode();
  const pen = document.createElement("canvas").getContext("2d");
  const counted = (x) => {
    pen.drawImage(seen, -x, -200);
    return new Set(new Uint32Array(pen.getImageData(0, 0, 300, 150).data.buffer)).size;
  };
  return [seen.naturalWidth, counted(300), counted(1600)];
}

// All that one takes hold of or presses, in the order of the page; what has the focus, and whether that is seen.
const nameOf = (node) => node.getAttribute("aria-label") ?? node.textContent;
export const hands = () => [...box.querySelectorAll("[tabindex='0'], button:not(:disabled)")].filter((one) => one.checkVisibility()).map(nameOf);
export const valued = () => ["valuemin", "valuenow", "valuemax", "valuetext"].map((one) => document.activeElement.getAttribute(`aria-${one}`));
export function focused() {
  const node = document.activeElement, { outlineStyle, outlineWidth } = getComputedStyle(node);
  return box.contains(node) ? [nameOf(node), outlineStyle === "solid" && outlineWidth === "3px", node.role] : null;
}

// How many pictures there have been since it was asked first, frame by frame.
let pictures = null, last;
export function changes() {
  const before = pictures;
  if (pictures === null) requestAnimationFrame(function next() {
    const now = box.innerHTML;
    if (now !== last) pictures++;
    last = now;
    requestAnimationFrame(next);
  });
  [pictures, last] = [0, box.innerHTML];
  return before;
}

// All that a scene sets, one control after the other, and the place after each.
export function listen() {
  const set = box.talk.set, seen = (globalThis.seen = []);
  box.talk.set = (values) => {
    for (const [name, value] of Object.entries(values)) {
      set({ [name]: value });
      seen.push(Object.fromEntries(Object.keys(values).map((one) => [one, box.talk.get(one)])));
    }
  };
}
