(* The lemma behind Theorem F: S real 2 x 2 with det S <> 0; then B S + B^T S + S B = 0 only for B = 0.
   S = (a b; c e) and B = (x y; z w). The four hypotheses of the theorem are the entries of the equation. *)
Require Import Reals Psatz. Open Scope R_scope.

Lemma pos (a b c e : R) : a*e - b*c <> 0 -> 0 < 3*a^2+3*a*e+3*e^2+b^2+b*c+c^2.
Proof.
intros H.
assert (S : 3*a^2+3*a*e+3*e^2+b^2+b*c+c^2 = 3*(a+e/2)^2 + 9/4*e^2 + (b+c/2)^2 + 3/4*c^2) by field.
rewrite S.
pose proof (pow2_ge_0 (a+e/2)) as Pa. pose proof (pow2_ge_0 e) as Pe.
pose proof (pow2_ge_0 (b+c/2)) as Pb. pose proof (pow2_ge_0 c) as Pc.
destruct (Req_dec (3*(a+e/2)^2 + 9/4*e^2 + (b+c/2)^2 + 3/4*c^2) 0) as [Z|Z]; [|lra].
exfalso; apply H.
assert (Z1 : (a+e/2)^2 = 0) by lra. assert (Z2 : e^2 = 0) by lra.
assert (Z3 : (b+c/2)^2 = 0) by lra. assert (Z4 : c^2 = 0) by lra.
assert (sq : forall t : R, t^2 = 0 -> t = 0)
  by (intros t Ht; replace (t^2) with (t*t) in Ht by ring; apply Rmult_integral in Ht; tauto).
apply sq in Z1. apply sq in Z2. apply sq in Z3. apply sq in Z4. subst e c.
replace a with 0 by lra. replace b with 0 by lra. ring.
Qed.

Theorem lemma_of_F (a b c e x y z w : R) : a*e - b*c <> 0 ->
  3*a*x + b*z + c*y + c*z = 0 ->
  a*y + b*w + 2*b*x + e*y + e*z = 0 ->
  a*y + a*z + 2*c*w + c*x + e*z = 0 ->
  b*y + b*z + c*y + 3*e*w = 0 ->
  x = 0 /\ y = 0 /\ z = 0 /\ w = 0.
Proof.
intros H E1 E2 E3 E4.
pose proof (pos a b c e H) as P.
set (Q := 3*a^2+3*a*e+3*e^2+b^2+b*c+c^2) in *.
assert (N : 3*(a*e-b*c)*Q <> 0) by (apply Rmult_integral_contrapositive_currified; [apply Rmult_integral_contrapositive_currified; lra | lra]).
assert (X0 : (3*(a*e-b*c)*Q) * x = 0).
{ replace ((3*(a*e-b*c)*Q) * x) with ((3*a^2*e - 3*a*b*c + 3*a*e^2 - b^2*e - b*c*e + 2*c^2*e + 3*e^3)*(3*a*x + b*z + c*y + c*z) + (3*a*b*e - 2*b^2*c - 2*b*c^2 - 2*c^3 - 3*c*e^2)*(a*y + b*w + 2*b*x + e*y + e*z) + (-3*a*b*e - 3*a*c*e + b^3 + b^2*c + b*c^2 - 3*b*e^2)*(a*y + a*z + 2*c*w + c*x + e*z) + (-a*b^2 + 2*a*b*c + 2*a*c^2 + 3*b*c*e)*(b*y + b*z + c*y + 3*e*w)) by (unfold Q; ring). rewrite E1, E2, E3, E4; ring. }
assert (X1 : (3*(a*e-b*c)*Q) * y = 0).
{ replace ((3*(a*e-b*c)*Q) * y) with ((-6*a*b*e + 3*b^2*c - 6*b*e^2 + 3*c*e^2)*(3*a*x + b*z + c*y + c*z) + (9*a^2*e - 6*a*b*c + 9*a*e^2 - 3*b*c*e - 3*c^2*e)*(a*y + b*w + 2*b*x + e*y + e*z) + (3*a*b^2 - 9*a*e^2 + 6*b^2*e + 6*b*c*e)*(a*y + a*z + 2*c*w + c*x + e*z) + (-3*a^2*b - 3*a*b*e + 6*a*c*e - 3*b^2*c - 3*b*c^2)*(b*y + b*z + c*y + 3*e*w)) by (unfold Q; ring). rewrite E1, E2, E3, E4; ring. }
assert (X2 : (3*(a*e-b*c)*Q) * z = 0).
{ replace ((3*(a*e-b*c)*Q) * z) with ((6*a*b*e - 3*a*c*e - 3*b^2*c - 3*b*c^2 - 3*c*e^2)*(3*a*x + b*z + c*y + c*z) + (-9*a^2*e + 6*a*b*c + 6*a*c^2 + 3*c^2*e)*(a*y + b*w + 2*b*x + e*y + e*z) + (9*a^2*e - 3*a*b^2 - 3*a*b*c + 9*a*e^2 - 6*b*c*e)*(a*y + a*z + 2*c*w + c*x + e*z) + (3*a^2*b - 6*a^2*c - 6*a*c*e + 3*b*c^2)*(b*y + b*z + c*y + 3*e*w)) by (unfold Q; ring). rewrite E1, E2, E3, E4; ring. }
assert (X3 : (3*(a*e-b*c)*Q) * w = 0).
{ replace ((3*(a*e-b*c)*Q) * w) with ((3*a*b*c + 2*b^2*e + 2*b*c*e - c^2*e)*(3*a*x + b*z + c*y + c*z) + (-3*a^2*c - 3*a*b*e - 3*a*c*e + b^2*c + b*c^2 + c^3)*(a*y + b*w + 2*b*x + e*y + e*z) + (-3*a^2*b + 3*a*c*e - 2*b^3 - 2*b^2*c - 2*b*c^2)*(a*y + a*z + 2*c*w + c*x + e*z) + (3*a^3 + 3*a^2*e + 2*a*b^2 - a*b*c - a*c^2 + 3*a*e^2 - 3*b*c*e)*(b*y + b*z + c*y + 3*e*w)) by (unfold Q; ring). rewrite E1, E2, E3, E4; ring. }
repeat split; match goal with H : _ * ?v = 0 |- ?v = 0 => apply Rmult_integral in H; destruct H; [contradiction | assumption] end.
Qed.
Print Assumptions lemma_of_F.
