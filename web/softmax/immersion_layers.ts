/**
 * Layers as the reader sets them, in float64: `immersion.py` once more. A test compares both at
 * random states.
 */
import type { Formulas, ImmersionPlace, Mode } from "./immersion_facts";
import { after, trueShares, within, type Pair, type Run, type Shares } from "./two_tokens";

export type Layer = 1 | 2 | 3 | 4;
export type Token = 1 | 2;
type Change = Partial<ImmersionPlace>;

/** How near the tokens come to each other, in pixels, before they meet. */
const NEAR = 5;

export const layersOf = ({ forms }: Formulas): Layer[] =>
  forms.map((_, index) => (index + 1) as Layer);

/** What the reader asks of each layer. */
export function askedModes(formulas: Formulas, place: ImmersionPlace): Mode[] {
  const { experiment } = place;
  return layersOf(formulas).map((layer) => {
    if (experiment === "own") return place[`mode_${layer}`];
    if (experiment === "as-they-are") return "true";
    return experiment === `only-${layer}` ? "free" : "frozen";
  });
}

/** What is done to each layer: a tied one is as its relation has it. */
export function modesOf(formulas: Formulas, place: ImmersionPlace): Mode[] {
  const asked = askedModes(formulas, place);
  return asked.map((mode, index) => (index + 1 === formulas.tied ? "true" : mode));
}

/** The shares and the places of the tokens, as the experiment sets them. */
export function runOf(formulas: Formulas, place: ImmersionPlace): Run {
  const { causal, forms } = formulas;
  const modes = modesOf(formulas, place);
  const places: Pair[] = [[place.input_1, place.input_2]];
  const shares = layersOf(formulas).map((layer, index): Shares => {
    const given: Record<Mode, Shares> = {
      true: trueShares(forms[index], places[index], causal),
      free: [causal ? 0 : place[`mu_${layer}`], place[`nu_${layer}`]],
      collapsed: causal ? [0, 1] : [0.5, 0.5],
      frozen: [0, 0],
    };
    const found = given[modes[index]];
    places.push(after(places[index], found));
    return found;
  });
  return { places, shares };
}

/** The controls where a layer is free and has these shares. */
export function setFree(
  formulas: Formulas,
  place: ImmersionPlace,
  layer: Layer,
  [mu, nu]: Shares,
): Change {
  const isOnlyOne = place.experiment === `only-${layer}`;
  const mode = isOnlyOne ? {} : setMode(formulas, place, layer, "free");
  const move = formulas.causal ? {} : { [`mu_${layer}`]: mu };
  return { ...mode, ...move, [`nu_${layer}`]: nu };
}

/** The controls where a layer has another mode, and all others have theirs. */
export function setMode(
  formulas: Formulas,
  place: ImmersionPlace,
  layer: Layer,
  mode: Mode,
): Change {
  const modes = modesOf(formulas, place).map((one, index) => [`mode_${index + 1}`, one]);
  return { experiment: "own", ...Object.fromEntries(modes), [`mode_${layer}`]: mode };
}

/**
 * The shares with which a token comes to a place. `unit` is the length of the line in pixels: near
 * the other token they meet.
 */
export function sharesAt(
  run: Run,
  layer: Layer,
  token: Token,
  place: number,
  unit: number,
): Shares {
  const [s, u] = run.places[layer - 1];
  const [mu, nu] = run.shares[layer - 1];
  const share = within((token === 1 ? place - s : u - place) / (u - s));
  const other = token === 1 ? nu : mu;
  const meets = Math.abs((1 - share - other) * (u - s)) * unit < NEAR;
  const found = meets ? 1 - other : share;
  return token === 1 ? [found, nu] : [mu, found];
}

/**
 * The shares at a place of a layer's square, in pixels from its lower left corner. Near the
 * diagonal the tokens meet: the shares are steps of their sliders that sum to 1.
 */
export function sharesInSquare(
  [right, up]: [number, number],
  [width, height]: [number, number],
  isCausal: boolean,
  step: number,
): Shares {
  const [mu, nu] = [within(right / width), within(up / height)];
  const fromDiagonal = (Math.abs(1 - mu - nu) * width * height) / Math.hypot(width, height);
  if (isCausal || fromDiagonal >= NEAR) return [mu, nu];
  const onDiagonal = step * Math.round((1 + mu - nu) / 2 / step);
  return [onDiagonal, 1 - onDiagonal];
}

/** The shares after a step of the keyboard that moves a token to the right, or back. */
export function sharesAfterStep(run: Run, layer: Layer, token: Token, step: number): Shares {
  const [s, u] = run.places[layer - 1];
  const [mu, nu] = run.shares[layer - 1];
  // With its share each token goes towards the other one.
  const isTowards = u > s === (token === 1);
  const change = isTowards ? step : -step;
  return token === 1 ? [mu + change, nu] : [mu, nu + change];
}
