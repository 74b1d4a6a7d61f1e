/**
 * Which canvases have a graphics card. A browser gives a page 16 contexts, and takes the oldest
 * away for the next one: so many of ours are awake, those in sight and those that were seen last;
 * the others sleep behind a picture of theirs.
 */

const MOST_AWAKE = 8;
declare global {
  // Each section has this file for itself: what a page has once stands here.
  var neurovizAwake: Set<Sleeper> | undefined;
}

const awake = (globalThis.neurovizAwake ??= new Set());

export interface Sleep {
  /** Draws the canvas; asked before a picture of it is taken. */
  paint(): void;
  /** Makes all that was on the graphics card anew. */
  begin(): void;
}

export class Sleeper {
  private readonly lender: WEBGL_lose_context | null | undefined;
  private readonly sight: IntersectionObserver;
  private isInSight = false;
  private isAsleep = false;
  private isWanted = false;
  private isLost = false;
  private isOver = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly sleep: Sleep,
  ) {
    this.lender = canvas.getContext("webgl2")?.getExtension("WEBGL_lose_context");
    this.sight = new IntersectionObserver(
      (entries) => {
        this.isInSight = entries[entries.length - 1].isIntersecting;
        if (this.isInSight) this.wake();
      },
      { rootMargin: "300px" },
    );
    this.sight.observe(canvas);
    canvas.addEventListener("webglcontextlost", (event) => {
      if (this.isOver) return;
      event.preventDefault();
      this.isLost = true; // before that is heard, a browser gives nothing back
      if (this.isWanted) setTimeout(() => this.lender?.restoreContext());
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.isLost = this.isWanted = false;
      sleep.begin();
      sleep.paint();
      canvas.style.background = "";
    });
  }

  /** What is seen, as the address of an image. */
  picture(): string {
    if (this.isAsleep) return this.canvas.style.background.replace(/^.*url\("?|"?\).*$/g, "");
    this.sleep.paint();
    return this.canvas.toDataURL();
  }

  close() {
    this.isOver = true;
    this.sight.disconnect();
    awake.delete(this);
    this.lender?.loseContext();
  }

  private wake() {
    if (!this.lender || this.isOver) return;
    awake.delete(this);
    awake.add(this); // the last seen stands last
    if (this.isAsleep) {
      this.isAsleep = false;
      this.isWanted = true;
      if (this.isLost) this.lender.restoreContext();
    }
    for (const other of [...awake]) {
      if (awake.size > MOST_AWAKE && other !== this && !other.isInSight) other.rest();
    }
  }

  private rest() {
    const picture = this.picture();
    this.isAsleep = true;
    this.isWanted = false;
    this.canvas.style.background = `url(${picture}) 0 0 / 100% 100%`;
    awake.delete(this);
    this.lender?.loseContext();
  }
}
