/** What moves by itself, while it is in sight and until somebody takes hold of it. */
import { isStill } from "../kit/motion";

const LONGEST = 0.1; // seconds of one frame: a page that was hidden goes on where it was
const STEP = 800; // milliseconds between two steps, where motion is reduced

export interface Moves {
  /** So many seconds have passed. */
  pass(seconds: number): void;
  /** Another step; true after the last one. */
  step(): boolean;
}

export class Play {
  private isWanted = false;
  private isInSight = true; // until it is known
  private frame = 0;
  private timer = 0;
  private before = 0;

  constructor(
    box: HTMLElement,
    private readonly button: HTMLButtonElement,
    private readonly moves: Moves,
  ) {
    button.addEventListener("click", () => (this.isWanted ? this.stop() : this.start()));
    document.addEventListener("visibilitychange", () => this.look());
    new IntersectionObserver((entries) => {
      this.isInSight = entries[entries.length - 1].isIntersecting;
      this.look();
    }).observe(box);
    if (isStill()) this.stop();
    else this.start();
  }

  start() {
    this.isWanted = true;
    this.say("❚❚", "hold the weights still");
    this.look();
  }

  stop() {
    this.isWanted = false;
    this.say("▶", "let the weights move");
    this.look();
  }

  private say(sign: string, name: string) {
    Object.assign(this.button, { textContent: sign, title: name, ariaLabel: name });
  }

  /** Goes on or stands, as it has to. */
  private look() {
    const goes = this.isWanted && this.isInSight && !document.hidden;
    if (goes === Boolean(this.frame || this.timer)) return;
    cancelAnimationFrame(this.frame);
    clearInterval(this.timer);
    this.frame = this.timer = this.before = 0;
    if (!goes) return;
    if (isStill()) this.timer = window.setInterval(() => this.step(), STEP);
    else this.frame = requestAnimationFrame((now) => this.next(now));
  }

  private step() {
    if (this.moves.step()) this.stop();
  }

  private next(now: number) {
    this.frame = requestAnimationFrame((later) => this.next(later));
    if (this.before) this.moves.pass(Math.min(LONGEST, (now - this.before) / 1000));
    this.before = now;
  }
}
