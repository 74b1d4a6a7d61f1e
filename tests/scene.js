// What tests ask of a page: `box` holds a scene or a figure.

export function react(drawn, width) {
  globalThis.names = Object.keys(drawn.place);
  neurovizScenes.react(box, drawn, width);
  box.talk ??= neurovizScenes.talkOf(box);
}

// What the controls say.
export const asked = (...some) => some.map((name) => box.talk.get(name));
export const place = () => Object.fromEntries(names.map((name) => [name, box.talk.get(name)]));

// Where a handle is in the page: the middle of its ring, or where it was moved to.
export function middle(selector) {
  const node = document.querySelector(selector);
  const ring = node.querySelector(".ring");
  const at = node.transform?.baseVal[0];
  if (at && !ring) {
    const { x, y } = box.getBoundingClientRect();
    return [x + at.matrix.e, y + at.matrix.f];
  }
  const own = (ring ?? node).getBoundingClientRect();
  return [own.x + own.width / 2, own.y + own.height / 2];
}

// Of the bars: those of this colour, or in the fibre those of now.
export function heights(fill) {
  const bars = box.querySelector(".nv-fiber") ? ".now rect" : `rect[fill="${fill}"]`;
  return [...box.querySelectorAll(bars)].map((bar) => Number(bar.getAttribute("height")));
}

// Of a saved picture: its width, and how many colours there are in two parts of it.
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

const nameOf = (node) => node.getAttribute("aria-label") ?? node.textContent;

// All that one takes hold of or presses, in the order of the page.
export function hands() {
  const all = [...box.querySelectorAll("[tabindex='0'], button:not(:disabled)")];
  return all.filter((one) => one.checkVisibility()).map(nameOf);
}

// What has the focus: its value, as a screen reader says it.
export function valued() {
  const names = ["valuemin", "valuenow", "valuemax", "valuetext"];
  return names.map((name) => document.activeElement.getAttribute(`aria-${name}`));
}

// Its name, whether one sees that it has the focus, and its role.
export function focused() {
  const node = document.activeElement;
  if (!box.contains(node)) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  return [nameOf(node), outlineStyle === "solid" && outlineWidth === "3px", node.role];
}

let pictures = null;
let last;

function count() {
  const now = box.innerHTML;
  if (now !== last) pictures++;
  last = now;
  requestAnimationFrame(count);
}

// How many pictures there have been since it was asked last, frame by frame.
export function changes() {
  const before = pictures;
  if (before === null) requestAnimationFrame(count);
  pictures = 0;
  last = box.innerHTML;
  return before;
}
