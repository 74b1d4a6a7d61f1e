/** A view in space, drawn by OGL: one turns it, and labels stand beside what they name. */
import { Camera, Vec3 } from "ogl";
import { Sleeper } from "./awake";
import { orFail } from "./failure";
import type { Point } from "./picture";
import { cross, distance, dot, minus, plus, size, unit, type Ray, type Triple } from "./solids";
import { Stage } from "./stage";
import { textLines, type Group, type Svg } from "./view";

/** Where the eye is, and what it looks at. */
export interface Sight {
  eye: Triple;
  center: Triple;
}

/** A label beside a point; `away` is the way to its place, in heights of the picture, y down. */
export interface Pointer {
  lines: string[];
  at: Triple;
  away: Point;
}

const LENS = Math.tan(Math.PI / 8); // half the height of the picture, one unit away
const WIDTH = 1.25; // of a drawing at most, in heights of the picture
const FILLED = 0.96; // of the picture at most, when it is turned
const CLICK = 4; // pixels: a pointer that moves less has clicked
const APART = 4; // pixels between two labels
const SLOW = 22; // milliseconds from one picture to the next, on average
const KEYS: Record<string, Point> = {
  ArrowLeft: [8, 0],
  ArrowRight: [-8, 0],
  ArrowUp: [0, -8],
  ArrowDown: [0, 8],
};
const ZOOMS: Record<string, number> = { "+": 0.9, "=": 0.9, "-": 1.1 };

/** What was drawn on a canvas is gone a moment later: who takes a picture asks for a still. */
export interface DrawnCanvas extends HTMLCanvasElement {
  still?(): string;
}

export class Space {
  /** What is drawn. */
  readonly stage: Stage;
  readonly canvas: DrawnCanvas;
  private readonly camera = newCamera();
  private readonly sleeper: Sleeper;
  private readonly labels: Group;
  private pointers: Pointer[] = [];
  /** Of the labels, and the size of the font in which they were measured. */
  private boxes: DOMRect[] = [];
  private measuredIn = "";
  private home: Sight = { eye: [4, 0, 1], center: [0, 0, 0] };
  private outline: Triple[] = [];
  private turn = 0;
  private tilt = 0;
  private zoom = 1;
  private wide = 1;
  private tall = 1;
  private paintedAt = 0;
  private pace = 16;
  private isSlow = false;
  private sharpTimer = 0;
  private readonly paintAgain = () => this.paint();
  private readonly paintSharp = () => this.paintStill();

  /**
   * `changed` hears that it has to be painted, `clicked` where it was clicked, in pixels of the
   * canvas.
   */
  constructor(
    svg: Svg,
    private readonly options: { name: string; changed(): void; clicked(at: Point): void },
  ) {
    this.canvas = document.createElement("canvas");
    svg.node()!.before(this.canvas);
    this.labels = svg.append("g").attr("class", "nv-pointers");
    this.stage = new Stage(this.canvas);
    this.sleeper = new Sleeper(this.canvas, {
      paint: () => this.paintStill(),
      begin: () => this.stage.begin(),
    });
    this.canvas.still = () => this.sleeper.picture();
    if (!this.isThere) this.canvas.style.display = "none";
    this.listen();
  }

  /** Whether the browser can draw it. */
  get isThere(): boolean {
    return this.stage.isThere;
  }

  resize(wide: number, tall: number) {
    if (wide === this.wide && tall === this.tall) return; // a canvas that is set anew is empty
    this.wide = wide;
    this.tall = tall;
    this.camera.perspective({ aspect: wide / tall });
    this.stage.resize(wide, tall);
    this.look();
  }

  /** Another drawing, seen from its own place; `outline`: points that stay in the picture. */
  see(sight: Sight, outline: Triple[]) {
    this.home = sight;
    this.outline = outline.map((at) => minus(at, sight.center));
    this.reset();
  }

  label(pointers: Pointer[]) {
    this.pointers = pointers;
    this.boxes = [];
    this.labels.selectAll("*").remove();
    for (const { lines } of pointers) {
      const group = this.labels.append("g") as Group;
      group.append("line").attr("class", "role-soft");
      textLines(group, [0, 0], lines, { role: "ink", anchor: "middle" });
    }
  }

  /** Where a point is seen, in pixels of the canvas. */
  project(at: Triple): Point {
    const seen = new Vec3(...at);
    this.camera.project(seen);
    return [((1 + seen.x) * this.wide) / 2, ((1 - seen.y) * this.tall) / 2];
  }

  /** A ray from the eye through a pixel: solids.ts says where it meets them. */
  ray([x, y]: Point): Ray {
    const far = new Vec3((2 * x) / this.wide - 1, 1 - (2 * y) / this.tall, 0.5);
    this.camera.unproject(far);
    const { x: ex, y: ey, z: ez } = this.camera.worldPosition;
    const from: Triple = [ex, ey, ez];
    return { from, way: unit(minus([far.x, far.y, far.z], from)) };
  }

  paint() {
    this.keepPace();
    this.stage.render(this.camera);
    this.placeLabels();
  }

  /** Sharp, also while something moves: for a picture that is kept or printed. */
  private paintStill() {
    this.stage.dense(2);
    this.stage.render(this.camera);
    this.placeLabels();
  }

  close() {
    removeEventListener("beforeprint", this.paintSharp);
    clearTimeout(this.sharpTimer);
    this.sleeper.close();
    this.stage.close();
  }

  /**
   * Twice as many pixels each way make smooth edges; a slow machine has them when nothing moves.
   */
  private keepPace() {
    const now = performance.now();
    const gap = now - this.paintedAt;
    this.paintedAt = now;
    if (gap < 100) this.pace += 0.1 * (gap - this.pace);
    this.isSlow ||= this.pace > SLOW;
    clearTimeout(this.sharpTimer);
    const isMoving = gap < 150;
    this.stage.dense(this.isSlow && isMoving ? 1 : 2);
    if (this.isSlow && isMoving) this.sharpTimer = window.setTimeout(this.paintAgain, 160);
  }

  private reset() {
    const { eye, center } = this.home;
    const away = minus(eye, center);
    this.turn = Math.atan2(away[1], away[0]);
    this.tilt = Math.asin(away[2] / size(away));
    this.zoom = 1;
    this.look();
  }

  private look() {
    const { eye, center } = this.home;
    const flat = Math.cos(this.tilt);
    const away: Triple = [
      flat * Math.cos(this.turn),
      flat * Math.sin(this.turn),
      Math.sin(this.tilt),
    ];
    const right = unit(cross([0, 0, 1], away));
    const up = cross(away, right);
    // In a narrow place, and where a turn would cut the drawing, from further away.
    const shape = this.tall / this.wide;
    let far = distance(eye, center) * Math.max(1, WIDTH * shape);
    for (const point of this.outline) {
      const reach = Math.max(Math.abs(dot(point, right)) * shape, Math.abs(dot(point, up)));
      far = Math.max(far, dot(point, away) + reach / (FILLED * LENS));
    }
    this.camera.position.set(...plus(center, this.zoom * far, away));
    this.camera.lookAt(center);
    this.camera.updateMatrixWorld();
  }

  /** As if a pointer had moved so many pixels. */
  turnBy(x: number, y: number) {
    this.turn -= 0.01 * x;
    this.tilt = Math.max(-1.5, Math.min(1.5, this.tilt + 0.01 * y));
    this.look();
    this.options.changed();
  }

  private zoomBy(factor: number) {
    this.zoom = Math.max(0.2, Math.min(5, this.zoom * factor));
    this.look();
    this.options.changed();
  }

  private back() {
    this.reset();
    this.options.changed();
  }

  private listen() {
    const { canvas, options } = this;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    const keys = "arrow keys turn it, + and - bring it near, Home puts it back";
    canvas.ariaLabel = `${options.name}: ${keys}`;
    // Not d3-drag: it would keep a finger from scrolling the page, where the picture is as wide as
    // a phone.
    let last: Point | null = null;
    let holder = 0; // the finger that began: another one moves nothing
    let far = 0;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button || last) return;
      holder = event.pointerId;
      canvas.setPointerCapture(holder);
      canvas.classList.add("by-pointer");
      last = [event.clientX, event.clientY];
      far = 0;
    });
    canvas.addEventListener("pointermove", ({ clientX, clientY, pointerId }) => {
      if (!last || pointerId !== holder) return;
      const way: Point = [clientX - last[0], clientY - last[1]];
      last = [clientX, clientY];
      far += Math.hypot(...way);
      this.turnBy(...way);
    });
    const clicked = orFail(canvas, options.clicked);
    canvas.addEventListener("pointerup", ({ offsetX, offsetY, pointerId }) => {
      if (pointerId === holder && last && far < CLICK) clicked([offsetX, offsetY]);
    });
    canvas.addEventListener("lostpointercapture", ({ pointerId }) => {
      if (pointerId === holder) last = null;
    });
    canvas.addEventListener("dblclick", () => this.back());
    canvas.addEventListener("blur", () => canvas.classList.remove("by-pointer"));
    canvas.addEventListener("keydown", (event) => {
      canvas.classList.remove("by-pointer");
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in KEYS) this.turnBy(...KEYS[event.key]);
      else if (event.key in ZOOMS) this.zoomBy(ZOOMS[event.key]);
      else if (event.key === "Home") this.back();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    // Two fingers that move apart; a wheel alone scrolls the page, as ever.
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoomBy(Math.exp(0.01 * Math.max(-20, Math.min(20, event.deltaY))));
    };
    canvas.addEventListener("wheel", onWheel, { passive: false });
    addEventListener("beforeprint", this.paintSharp);
  }

  /**
   * Labels are measured once in each size of letters, and all before the first one is moved: a
   * size that is asked for after a move lets the browser lay out the whole page.
   */
  private measureLabels() {
    const host = this.canvas.closest<HTMLElement>(".nv-scene");
    const size = host?.style.getPropertyValue("--size-base") ?? "";
    // Where nothing is shown, all widths are 0.
    const isMeasured = this.boxes.length > 0 && this.boxes.every(({ width }) => width > 0);
    if (isMeasured && size === this.measuredIn) return;
    this.measuredIn = size;
    const texts = this.labels.selectAll<SVGTextElement, unknown>("text").nodes();
    this.boxes = texts.map((text) => text.getBBox());
  }

  /** Of labels that a turn brings over one another, the first stays. */
  private placeLabels() {
    const taken: DOMRect[] = [];
    this.measureLabels();
    this.labels.selectChildren<SVGGElement, unknown>("g").each((_, index, groups) => {
      const group = groups[index];
      const { at, away } = this.pointers[index];
      const [x, y] = this.project(at);
      const line = group.querySelector("line")!;
      const text = group.querySelector("text")!;
      const { width, height } = this.boxes[index];
      // On a phone the words would go over the edge.
      const middle = Math.min(this.wide - width / 2, x + away[0] * this.tall);
      const dx = Math.max(width / 2, middle) - x;
      const dy = away[1] * this.tall;
      text.setAttribute("transform", `translate(${x + dx} ${y + dy})`);
      // The line ends at the box of the words: at its side, or at its upper or lower edge.
      const inWidth = (width / 2 + 3) / (Math.abs(dx) || 1);
      const inHeight = (height / 2 + 1) / (Math.abs(dy) || 1);
      const share = 1 - Math.min(1, inWidth, inHeight);
      const ends = { x1: x, y1: y, x2: x + share * dx, y2: y + share * dy };
      for (const [name, value] of Object.entries(ends)) line.setAttribute(name, String(value));
      const box = new DOMRect(x + dx - width / 2, y + dy - height / 2, width, height + APART);
      const isFree = taken.every((other) => !overlap(box, other));
      group.style.visibility = isFree ? "" : "hidden";
      if (isFree) taken.push(box);
    });
  }
}

function newCamera(): Camera {
  // OGL asks for a graphics card here, and does not use it: places are known without one, too.
  const camera = new Camera(undefined as never, { fov: 45, near: 0.05, far: 60 });
  camera.up.set(0, 0, 1);
  return camera;
}

const overlap = (one: DOMRect, other: DOMRect): boolean =>
  one.left < other.right &&
  other.left < one.right &&
  one.top < other.bottom &&
  other.top < one.bottom;
