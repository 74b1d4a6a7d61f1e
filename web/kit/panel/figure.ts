/** A panel's figure in one place of the page, redrawn at most once a frame. */
import { FAILED } from "../failure";
import { eachFrame } from "../motion";
import { addressInLab, followPages } from "../pages";
import type { ChartModel } from "./chart";
import { drawingIn, type Drawn, type Drawing } from "./drawing";
import { keepKeys } from "./keys";
import { controlsOf } from "./model";
import { playerOf } from "./player";
import { keepNamed } from "./sliders";

const LEAST_WIDTH = 200; // pixels: less is a panel that is folded
const NEAR = 4; // pixels: a scroll bar that comes and goes
const REST = 1500; // milliseconds without a change, before a picture of the figure is kept

export class Figure {
  private readonly box = document.createElement("div");
  private readonly frame = eachFrame(this.box, () => void this.paint());
  private readonly resized = new ResizeObserver(([entry]) => this.fit(entry.contentRect.width));
  private drawing: Drawing | undefined;
  private width = 0;
  /** Of the figure that is seen. */
  private revision = -1;
  private rest = 0;
  private isClosed = false;
  private undo: (() => void)[] = [];

  /** `now` is the figure as Python said it last. */
  constructor(
    private readonly model: ChartModel,
    private readonly element: HTMLElement,
    private readonly now: () => Drawn,
  ) {
    const painter = model.get("painter");
    this.box.className = painter === "plotly" ? "nv-plotly" : "";
    element.append(this.box);
    drawingIn(this.box, painter, model, now).then(
      (drawing) => {
        this.drawing = drawing;
        this.draw();
      },
      (error) => {
        this.box.className = FAILED;
        this.box.textContent = `what draws this figure cannot be loaded in this page: ${error}`;
      },
    );
    this.begin();
  }

  draw() {
    this.frame.soon();
  }

  close() {
    this.isClosed = true;
    this.frame.stop();
    clearTimeout(this.rest);
    this.resized.disconnect();
    for (const end of this.undo) end();
    this.drawing?.close();
  }

  /** Once the element stands in the page. */
  private begin() {
    if (this.isClosed) return;
    if (!this.element.isConnected) {
      requestAnimationFrame(() => this.begin());
      return;
    }
    this.resized.observe(this.element);
    const panel = this.element.closest(".nv");
    if (panel) this.serve(panel);
  }

  /** What the controls of the panel lack. */
  private async serve(panel: Element) {
    this.undo = [...panel.querySelectorAll(".nv-controls")].map(keepNamed);
    this.undo.push(keepKeys(panel));
    this.undo.push(followPages(panel as HTMLElement, addressInLab));
    const controls = await controlsOf(this.model);
    if (this.isClosed) return;
    for (const name of this.model.get("walks")) {
      this.undo.push(playerOf(panel, controls[name]));
    }
  }

  private fit(width: number) {
    const next = Math.floor(width);
    if (next < LEAST_WIDTH || Math.abs(next - this.width) <= NEAR) return;
    this.width = next;
    this.model.set("width", next);
    this.model.save_changes();
    this.draw();
  }

  private async paint() {
    if (!this.drawing || this.isClosed || !this.width) return;
    const drawn = this.now();
    await this.drawing.draw(drawn, this.width);
    if (drawn.revision < this.revision) return; // a later one was drawn sooner
    this.revision = drawn.revision;
    // Only now: what status.ts compares is what is seen.
    this.box.dataset.setting = JSON.stringify(drawn.of);
    clearTimeout(this.rest);
    if (this.model.get("keeps")) this.rest = window.setTimeout(() => this.keep(), REST);
  }

  /** A notebook that is opened again without its kernel has this picture. */
  private async keep() {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (this.isClosed || !width || document.hidden) return;
    const picture = await this.drawing!.picture({ format: "webp", width, height }).catch(() => "");
    if (picture) this.model.send({ picture });
  }
}
