/** Draws any scene in an element: for a panel (panel/drawing.ts), or a page without Python. */
import css from "./scene.css";
import { alone } from "./controls";
import { FAILED, onFailure, orFail, UNDRAWN } from "./failure";
import { made } from "./made";
import { partsOf, type Message, type Scene, type Talk, type Value } from "./picture";
import { camera, pictureOf } from "./still";
import { dress, forgetSizes, watchSizes } from "./view";

type Place = Record<string, Value>;

/** A scene: what draws it, and the style sheet that is its own. */
export interface SceneKind<Facts, P extends Place> {
  make(host: HTMLElement, talk: Talk): Scene<Facts, P>;
  style: string;
}

// A message says which scene it is for, so that the types of all scenes meet here.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyKind = SceneKind<any, any>;

interface Drawn {
  host: HTMLElement;
  scene: ReturnType<AnyKind["make"]>;
  talk: Talk;
  /** The place that Python said last. */
  said: string;
  /** The width and the theme in which it is drawn. */
  looks: string;
  /** Draws the last message again. */
  again(): void;
  /** Ends what it hears of the controls. */
  leave(): void;
  sizes: ReturnType<typeof watchSizes>;
}

/** Pixels: in a narrower element views stand one below the other. */
const NARROW = 700;

/** Pixels: in a narrower one, such as on a tablet, four views have no room side by side. */
const MEDIUM = 840;

/** The controls as a scene has them: what fails while it hears them is told in its place. */
function talkIn(host: HTMLElement, talk: Talk): Talk {
  return {
    isAlone: talk.isAlone,
    get: (name) => talk.get(name),
    set: (values) => talk.set(values),
    heard: (listen) => talk.heard(orFail(host, listen)),
  };
}

export function painterOf(kinds: Record<string, AnyKind>) {
  const all = new WeakMap<HTMLElement, Drawn>();

  function begin(box: HTMLElement, message: Message<unknown, Place>, talk: Talk): Drawn {
    const { section, scene } = partsOf(message.name);
    if (!Object.hasOwn(kinds, message.name)) {
      throw new Error(
        `no scene '${message.name}' in this build: list it in web/${section}/scenes.ts, ` +
          "run `npm run build`, start a new kernel, and load the page again",
      );
    }
    const { make, style } = kinds[message.name];
    const host = box.appendChild(document.createElement("div"));
    host.className = `nv-scene nv-${scene}`;
    // In the host, so that a saved picture has it, too.
    host.appendChild(document.createElement("style")).textContent = css + style;
    // Whoever moves something sees at once what is said of it; Python follows.
    const answer = () => host.closest(".nv-asking")?.classList.remove("nv-asking");
    onFailure(host, (error) => fail(box, error));
    const drawn: Drawn = {
      host,
      scene: make(host, talkIn(host, talk)),
      talk,
      said: "",
      looks: "",
      again() {},
      leave: talk.heard(answer),
      sizes: watchSizes(host, () => orSay(box, () => drawn.again())),
    };
    camera(host, `neuroviz-${scene}`);
    all.set(box, drawn);
    return drawn;
  }

  function draw(box: HTMLElement, message: Message<unknown, Place>, width: number, talk?: Talk) {
    const before = all.get(box);
    const drawn = before ?? begin(box, message, talk ?? alone(message.place));
    const said = JSON.stringify(message.place);
    if (before && !talk && before.said !== said) drawn.talk.set(message.place);
    drawn.said = said;
    const looks = JSON.stringify([width, message.look]);
    if (looks !== drawn.looks) {
      drawn.looks = looks;
      drawn.host.classList.toggle("narrow", width < NARROW);
      drawn.host.classList.toggle("medium", width >= NARROW && width < MEDIUM);
      drawn.host.style.width = `${width}px`;
      dress(drawn.host, message.look);
      forgetSizes(drawn.host);
    }
    drawn.again = () => drawn.scene.show(message, width);
    drawn.again();
    drawn.sizes.watchNew();
  }

  /** An error takes the picture's place, in words; the console gets it, too. */
  function orSay(box: HTMLElement, paint: () => void) {
    for (const said of box.querySelectorAll(`:scope > .${FAILED}`)) said.remove();
    try {
      paint();
    } catch (error) {
      fail(box, error);
      throw error;
    }
  }

  function fail(box: HTMLElement, error: unknown) {
    const drawn = all.get(box);
    all.delete(box);
    drawn?.sizes.stop();
    drawn?.leave();
    // Its own host is not known yet where a scene failed to begin.
    const seen = box.querySelectorAll(`:scope > .nv-scene, :scope > .${FAILED}`);
    for (const part of seen) part.remove();
    const says = `${UNDRAWN}: ${error} (F12, the browser's console, says where)`;
    box.append(Object.assign(made("p", FAILED, says), { role: "alert" }));
    drawn?.scene.close();
  }

  return {
    /** Draws what Python says, in this width; without a `talk` there is no Python. */
    react(box: HTMLElement, message: Message<unknown, Place>, width: number, talk?: Talk) {
      orSay(box, () => draw(box, message, width, talk));
    },
    /** The picture as it is seen, as the address of an image. */
    async toImage(box: HTMLElement, { format }: { format: "png" | "webp" }) {
      return pictureOf(all.get(box)!.host, format, 1);
    },
    purge(box: HTMLElement) {
      const drawn = all.get(box);
      drawn?.sizes.stop();
      drawn?.leave();
      drawn?.scene.close();
      all.delete(box);
      box.replaceChildren();
    },
    /** The controls of a scene, for tests and for pages without Python. */
    talkOf: (box: HTMLElement) => all.get(box)?.talk,
  };
}

/** Whether the reader is asked for a guess: answers are hidden, also from screen readers. */
export const isAsking = (host: HTMLElement): boolean => host.closest(".nv-asking") !== null;

/**
 * Says below the picture what there is to know. Without Python, what only Python says is hidden
 * while the picture is elsewhere; a page of the static edition then says so itself: book/panel.ts.
 */
export function stand(
  host: HTMLElement,
  note: HTMLElement,
  { isExact, isAlone }: { isExact: boolean; isAlone: boolean },
  hint: string,
) {
  // With Python, status.ts knows what is out of date.
  const isAhead = isAlone && !isExact;
  (host.closest(".nv, .nv-panel") ?? host).classList.toggle("nv-ahead", isAhead);
  const says = "the picture has moved: what only Python says of this place needs the notebook";
  note.textContent = isAhead && !host.closest(".nv-panel") ? says : hint;
}
