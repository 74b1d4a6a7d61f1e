/**
 * The picture as it is seen, as a PNG or WebP: for the reader's button, and for a notebook that is
 * saved.
 */
import { isFinger } from "./handle";
import type { DrawnCanvas } from "./space";

/** All that is drawn, as one SVG that the browser paints; what one presses is left out. */
export async function pictureOf(
  host: HTMLElement,
  format: "png" | "webp",
  scale: number,
): Promise<string> {
  const { width, height } = host.getBoundingClientRect();
  const isAhead = host.closest(".nv-ahead, .nv-old") !== null;
  const copy = host.cloneNode(true) as HTMLElement;
  // While Python has not answered, its words stay dim, and what says why stays.
  copy.classList.toggle("nv-ahead", isAhead);
  copy.classList.toggle("nv-asking", host.closest(".nv-asking") !== null);
  for (const node of copy.querySelectorAll(isAhead ? "button" : "button, .nv-hint")) node.remove();
  const canvases = host.querySelectorAll("canvas");
  copy.querySelectorAll("canvas").forEach((canvas, index) => {
    const image = document.createElement("img");
    const original: DrawnCanvas = canvases[index];
    image.src = original.still?.() ?? original.toDataURL();
    image.style.cssText = canvas.style.cssText;
    canvas.replaceWith(image);
  });
  const size = `width="${width}" height="${height}"`;
  const inside = new XMLSerializer().serializeToString(copy);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>
    <foreignObject ${size}>${inside}</foreignObject></svg>`;
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await picture.decode();
  const page = document.createElement("canvas");
  Object.assign(page, { width: scale * width, height: scale * height });
  page.getContext("2d")!.drawImage(picture, 0, 0, page.width, page.height);
  return page.toDataURL(`image/${format}`, 0.7);
}

const CAMERA = `<svg width="18" height="18" viewBox="0 0 16 16"
  fill="none" stroke="currentColor" stroke-width="1.3">
  <path d="M1.5 4.5h3l1.3-2h4.4l1.3 2h3v9h-13z"/><circle cx="8" cy="8.7" r="2.7"/></svg>`;

/**
 * A button that saves the picture at twice its size. It stands in a corner of the picture, and is
 * seen while the pointer is there; under a finger it stands beside the other buttons.
 */
export function camera(host: HTMLElement, name: string) {
  const button = document.createElement("button");
  const says = "save the picture as a PNG";
  Object.assign(button, { type: "button", className: "nv-camera", title: says, ariaLabel: says });
  button.innerHTML = CAMERA;
  button.addEventListener("click", async () => {
    const link = document.createElement("a");
    Object.assign(link, { href: await pictureOf(host, "png", 2), download: `${name}.png` });
    link.click();
  });
  const place = isFinger() ? host.querySelector(".nv-footer") : null;
  (place ?? host).append(button);
}
