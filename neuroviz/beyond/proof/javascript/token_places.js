// Two tokens on their line, layer by layer, in float64: `immersion.py` and `uniqueness.py` once more.
// A test compares both at random states.

const { abs, exp, log, log1p, max, min, tanh } = Math;
const SPEED = 4;
const logistic = (x) => (1 + tanh(x / 2)) / 2;
const softplus = (x) => (x === Infinity ? x : max(0, x) + log1p(exp(-abs(x))));
const far = (travel) => (travel >= 1 ? Infinity : -SPEED * log(1 - travel)); // from 0 at the beginning of a way to ∞ at its end

// (μ, ν) from two logits, which may be infinite.
const sharesOf = ([p, q], { copies, causal }) => [causal ? 0 : logistic(p + log(copies)), logistic(q - log(copies))];

// The logits of tokens at the places s and u, from δᵀM x₁ and δᵀM δ.
const logitsOf = ([first, apart], [s, u]) => [(u - s) * (first + s * apart), (s - u) * (first + u * apart)];

export const after = ([s, u], [mu, nu]) => [s + mu * (u - s), u - nu * (u - s)];

// What is done to each layer: a tied one is as its relation has it.
export const modesOf = ({ forms, tied }, place) => forms.map((_, i) => {
  const { experiment } = place, layer = i + 1;
  if (layer === tied || experiment === "as-they-are") return "true";
  if (experiment === "own") return place[`mode_${layer}`];
  return experiment === `only-${layer}` ? "free" : "frozen";
});

// The shares and the places of the tokens, as the experiment sets them.
export function experimentAt(local, place) {
  const { copies, causal, forms } = local, places = [[place.input_1, place.input_2]];
  const shares = modesOf(local, place).map((mode, i) => {
    const found = {
      true: () => sharesOf(logitsOf(forms[i], places[i]), local),
      free: () => [causal ? 0 : place[`mu_${i + 1}`], place[`nu_${i + 1}`]],
      collapsed: () => (causal ? [0, 1] : [copies / (copies + 1), 1 / (copies + 1)]),
      frozen: () => [0, 0],
    }[mode]();
    places.push(after(places[i], found));
    return found;
  });
  return { places, shares };
}

// The way of θ and θ′, from the true exponentials to those that tell them apart: both at a place of it.
export function wayOf(local) {
  const { step, power, layers, copies, causal, forms } = local;
  const shares = (p, q) => sharesOf([p, q], local), start = forms.map(([form]) => logitsOf(form, [0, 1]));
  const movedAt = (travel) => (step === "peel" && layers > 1 && travel > 0.5 ? 2 : 1);

  // A layer that is free, on its way to PQ = 1; under a mask to Q = ∞.
  const toMeet = (form, here, travel) => {
    const [p, q] = logitsOf(form, here);
    return causal ? shares(p, q + far(travel)) : shares((1 - travel) * p, (1 - travel) * q);
  };

  // Q → 0; then P → ∞ while a token runs away, so that one of the networks sees it where it was.
  function runAway(travel) {
    const [first, second] = causal ? [0, travel] : [min(1, 2 * travel), max(0, 2 * travel - 1)], powers = [1, power];
    const gone = far(second) / abs(power - 1), mover = causal ? 1 : 0, holds = power < 1 ? 1 : 0;
    const here = start.map((logits, side) => logits[mover] + powers[side] * gone);
    const divisor = softplus(log(copies) + start[holds][mover]), divided = here.map((logit) => softplus(log(copies) + logit));
    const distance = exp(divided[holds] - divisor);
    return [0, 1].map((side) => {
      const given = [];
      [given[mover], given[1 - mover]] = [here[side], start[side][1 - mover] - powers[side] * far(first)];
      const catchesUp = side === holds ? 0 : gone < Infinity ? divided[side] - divided[holds] : Infinity;
      const left = exp(-divisor - catchesUp), found = shares(...given);
      return { shares: [found], places: causal ? [[0, distance], [0, left]] : [[1 - distance, 1], [1 - left, 1 - found[1]]] };
    });
  }

  function firstLayers(travel) {
    if (step === "B1, ρ > 0") return runAway(travel);
    const [[p, q], [p2, q2]] = start, gone = far(travel), push = causal ? -gone : gone;
    const off = far(layers > 1 ? min(1, 2 * travel) : travel), still = shares(p, q);
    const found = {
      A: () => [still, toMeet(forms[1][0], [0, 1], travel)],
      B2: () => [still, shares(p2 - gone, q2 + gone)],
      "B1, ρ < 0": () => [shares(p - push, q + push), shares(p2 - power * push, q2 + power * push)],
      peel: () => [shares(p - off, q - off), shares(p2 - off, q2 - off)],
    }[step]?.() ?? [still, shares(p2, q2)];
    return found.map((one) => ({ shares: [one], places: [[0, 1], after([0, 1], one)] }));
  }

  return {
    movedAt,
    at: (travel) => firstLayers(travel).map((network, side) => {
      for (let i = 1; i < layers; i++) {
        const here = network.places[i], meets = side && i + 1 === movedAt(travel);
        const one = meets ? toMeet(forms[side][i], here, 2 * travel - 1) : sharesOf(logitsOf(forms[side][i], here), local);
        network.shares.push(one);
        network.places.push(after(here, one));
      }
      return network;
    }),
  };
}
