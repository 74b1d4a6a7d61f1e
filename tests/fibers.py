"""What the page shows of a layer beside a fibre, by Python."""

import numpy as np

from neuroviz.attention.layer import TOLERANCE, outputs_of_layer
from neuroviz.rank.field import Reals
from neuroviz.single_layer.walk import plane_of


def input_shown(study):
    return study.inputs[study.setting.input - 1]


def outputs_now(study):
    """φ(X) of the input that is shown, at the place where the study ends."""
    X = input_shown(study)
    return outputs_of_layer(Reals(), study.setting.attention, study.now, X[None])[0]


def outside(study):
    """How far `now` is from the plane of the picture; 0 where the picture is no
    shadow."""
    plane = plane_of(study.setting)
    x, y = study.places[2]
    beside_A = np.linalg.norm(study.now.A - x * plane.A)
    beside_V = np.linalg.norm(study.now.V - y * plane.V)
    distance = np.hypot(beside_A, beside_V)
    return distance if distance > TOLERANCE else 0.0
