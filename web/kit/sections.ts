/** The scenes that a page has: the script of a section brings its own, and adds them here. */
import { painterOf } from "./painter";
import { partsOf, type Message, type Talk, type Value } from "./picture";

type Painter = ReturnType<typeof painterOf>;

/** Draws each picture by the painter of its section. */
export class Scenes {
  private readonly painters = new Map<string, Painter>();
  private readonly drawnBy = new WeakMap<HTMLElement, Painter>();

  add(section: string, painter: Painter) {
    this.painters.set(section, painter);
  }

  react(
    box: HTMLElement,
    message: Message<unknown, Record<string, Value>>,
    width: number,
    talk?: Talk,
  ) {
    const { section } = partsOf(message.name);
    // An unknown section goes to any painter: it throws the error that names the missing scene.
    const painter = this.painters.get(section) ?? [...this.painters.values()][0];
    this.drawnBy.set(box, painter);
    painter.react(box, message, width, talk);
  }

  toImage(box: HTMLElement, options: { format: "png" | "webp" }) {
    return this.drawnBy.get(box)!.toImage(box, options);
  }

  purge(box: HTMLElement) {
    this.drawnBy.get(box)?.purge(box);
  }

  /** The controls of a scene, for tests and for pages without Python. */
  talkOf = (box: HTMLElement) => this.drawnBy.get(box)?.talkOf(box);
}

declare global {
  /** Each script has this class for itself: the first one leaves it behind for all. */
  var neurovizScenes: Scenes;
}

/** Adds the scenes of a section, under the names that Python has for them. */
export function offer(section: string, kinds: Parameters<typeof painterOf>[0]) {
  globalThis.neurovizScenes ??= new Scenes();
  const named = Object.entries(kinds).map(([name, kind]) => [`${section}/${name}`, kind]);
  globalThis.neurovizScenes.add(section, painterOf(Object.fromEntries(named)));
}
