/** Random targets in the ball of the drawing, and layers that learn each of them to the end. */
import { plus, unit, type Triple } from "../kit/solids";
import type { FlowFacts, LearningPlace } from "./learning_facts";
import { Layers, normals, uniforms } from "./learning_flow";
import { formsAt } from "./learning_twin";

export const TRIED = 100; // targets
const EACH = 8; // layers for a target

export class Trial {
  /** Targets that are still to be tried. */
  left = 0;
  private readonly layers: Layers;
  private targets = 0;
  private singular = 0;

  constructor(private readonly flow: FlowFacts) {
    this.layers = new Layers(EACH, flow.tolerance);
  }

  /** So many more: the counts of all presses add up. */
  more() {
    this.left = TRIED;
  }

  stop() {
    this.left = 0;
  }

  /** One more target: which it is, where in the drawing, and whether a layer ends singular. */
  next(seed: number, placeAt: (drawn: Triple) => LearningPlace) {
    this.left--;
    const uniform = uniforms(1000 + seed);
    const normal = normals(seed);
    const far = Math.cbrt(uniform());
    const at = plus([0, 0, 0], far, unit([normal(), normal(), normal()]));
    this.layers.restart(normal);
    this.layers.aim(formsAt(placeAt(at)));
    this.layers.advance(this.flow.time);
    let singular = 0;
    for (let run = 0; run < EACH; run++) {
      singular += Number(this.layers.ratio(run) < this.flow.singular);
    }
    const index = this.targets;
    this.targets++;
    this.singular += singular;
    return { index, at, isSingular: singular > 0 };
  }

  get words(): string {
    return (
      `${this.targets} random targets, ${EACH} layers each: of ${EACH * this.targets} layers` +
      ` ${this.singular || "none"} ${this.singular > 1 ? "end" : "ends"} singular.`
    );
  }
}
