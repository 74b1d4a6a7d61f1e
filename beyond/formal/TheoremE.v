(* Theorem E (beyond/docs/softmax_heads_dimension.md) after Step 1, for every depth, with or without skips.
   Layers are counted from 0. `run` is the freed network on two tokens, with shares mu_ih and nu_ih for each
   head, and its derivative in a direction dw of the weights. The theorem assumes of Condition 2 that the F_i
   are invertible and the V_ih are not 0. The derivative of the output vanishes for all tokens and all shares
   exactly if dw is an infinitesimal change of basis g; the same if it vanishes at the shares with mu = 0,
   those of the causal network. And g is determined by dw; with skips it is 0, and so is dw. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory. Local Open Scope ring_scope.

Section TheoremE.
Variables (F : fieldType) (d l : nat) (H : nat -> nat) (skip : bool).
Notation vec := 'cV[F]_d.
Notation mat := 'M[F]_d.
Definition shares := forall i, 'I_(H i) -> F.

(* the weights, and a direction (dA, dV) in the same shape *)
Record weights := Weights { A : forall i, 'I_(H i) -> mat; V : forall i, 'I_(H i) -> mat }.
Variables w dw : weights.

Definition Fm i : mat := (if skip then 1%:M else 0) + \sum_h V w (i := i) h.
Definition dFm i : mat := \sum_h V dw (i := i) h.
Definition bil (B : mat) (u v : vec) : F := (u^T *m B *m v) 0 0.

Record state := State { z1 : vec; z2 : vec; dz1 : vec; dz2 : vec }.

Definition dp i (h : 'I_(H i)) s :=
  bil (A w h) (dz2 s - dz1 s) (z1 s) + bil (A w h) (z2 s - z1 s) (dz1 s) + bil (A dw h) (z2 s - z1 s) (z1 s).
Definition dq i (h : 'I_(H i)) s :=
  bil (A w h) (dz1 s - dz2 s) (z2 s) + bil (A w h) (z1 s - z2 s) (dz2 s) + bil (A dw h) (z1 s - z2 s) (z2 s).

(* layer i on two tokens and on their derivatives; the shares move by mu (1 - mu) dp and nu (1 - nu) dq *)
Definition step i (mu nu : 'I_(H i) -> F) (s : state) : state :=
  let de := z1 s - z2 s in let dde := dz1 s - dz2 s in
  State (Fm i *m z1 s - \sum_h mu h *: (V w h *m de))
        (Fm i *m z2 s + \sum_h nu h *: (V w h *m de))
        (dFm i *m z1 s + Fm i *m dz1 s
           - \sum_h (mu h *: (V dw h *m de + V w h *m dde) + (mu h * (1 - mu h) * dp h s) *: (V w h *m de)))
        (dFm i *m z2 s + Fm i *m dz2 s
           + \sum_h (nu h *: (V dw h *m de + V w h *m dde) + (nu h * (1 - nu h) * dq h s) *: (V w h *m de))).

Fixpoint run (mu nu : shares) k s := if k is i.+1 then step (mu i) (nu i) (run mu nu i s) else s.

Definition none : shares := fun _ _ => 0.
Definition kernel mus := forall mu nu x1 x2, mus mu ->
  let s := run mu nu l (State x1 x2 0 0) in dz1 s = 0 /\ dz2 s = 0.

(* an infinitesimal change of basis *)
Definition change (g : nat -> mat) :=
  [/\ g 0%N = 0, g l = 0, skip -> forall i, (i <= l)%N -> g i = 0 &
      forall i (h : 'I_(H i)), (i < l)%N ->
        V dw h = g i.+1 *m V w h - V w h *m g i /\ A dw h = - ((g i)^T *m A w h) - A w h *m g i].

Lemma mulmx_inj m (B D : 'M[F]_(m, d)) : (forall v : vec, B *m v = D *m v) -> B = D.
Proof.
move=> E; apply/matrixP=> i j.
by have /matrixP/(_ i 0) := E (delta_mx j 0); rewrite -!colE !mxE.
Qed.

(* a bilinear form that vanishes at (u, v) whenever W u <> 0 is zero *)
Lemma bil_off_kernel (W B : mat) : W != 0 -> (forall u v, W *m u != 0 -> bil B u v = 0) -> B = 0.
Proof.
move=> W0 E.
have [a Wa] : exists a : vec, W *m a != 0.
  case: (pickP (fun j => W *m (delta_mx j 0 : vec) != 0)) => [j Wj|N]; first by exists (delta_mx j 0).
  case/eqP: W0; apply/matrixP=> i j; have /negbT/negPn/eqP/matrixP/(_ i 0) := N j.
  by rewrite -colE !mxE.
have B0 u v : bil B u v = 0.
  case: (boolP (W *m u == 0)) => [/eqP Wu|]; last exact: E.
  have := E (u + a) v; rewrite mulmxDr Wu add0r => /(_ Wa).
  by rewrite /bil linearD /= !mulmxDl mxE (_ : (a^T *m _ *m _) 0 0 = bil B a v) // (E a) // addr0.
apply/matrixP=> i j; have := B0 (delta_mx i 0) (delta_mx j 0).
by rewrite /bil trmx_delta -rowE -colE !mxE.
Qed.

Lemma frozen i mu nu s : (forall h, mu h = 0) -> (forall h, nu h = 0) ->
  step (i := i) mu nu s =
  State (Fm i *m z1 s) (Fm i *m z2 s) (dFm i *m z1 s + Fm i *m dz1 s) (dFm i *m z2 s + Fm i *m dz2 s).
Proof.
move=> m0 n0; rewrite /step !big1 ?subr0 ?addr0 // => h _;
  by rewrite ?m0 ?n0 ?mul0r ?scale0r ?addr0.
Qed.

Fixpoint C k : mat := if k is i.+1 then Fm i *m C i else 1%:M.
Fixpoint dC k : mat := if k is i.+1 then dFm i *m C i + Fm i *m dC i else 0.

Lemma runS mu nu k s : run mu nu k.+1 s = step (mu k) (nu k) (run mu nu k s).
Proof. by []. Qed.

Lemma run_frozen (nu : shares) k s : dz1 s = 0 -> dz2 s = 0 -> (forall i h, (i < k)%N -> nu i h = 0) ->
  run none nu k s = State (C k *m z1 s) (C k *m z2 s) (dC k *m z1 s) (dC k *m z2 s).
Proof.
move=> d1 d2; elim: k => [|k IH] n0; first by case: s d1 d2 => a b da db /= -> ->; rewrite !mul1mx !mul0mx.
rewrite /= IH => [|i h ik]; last by apply: n0; apply: ltnW.
by rewrite frozen => [|//|h]; rewrite ?n0 //= !mulmxDl !mulmxA.
Qed.

Section Kernel.
Variable u : forall i, (i < l)%N -> Fm i \in unitmx.

Lemma C_unit k : (k <= l)%N -> C k \in unitmx.
Proof.
elim: k => [|k IH] kl /=; first exact: unitmx1.
by rewrite unitmx_mul u //= IH // ltnW.
Qed.

Definition g k : mat := dC k *m invmx (C k).

Lemma gC k : (k <= l)%N -> g k *m C k = dC k.
Proof. by move=> kl; rewrite /g mulmxKV // C_unit. Qed.

Lemma gF i : (i < l)%N -> g i.+1 *m Fm i = dFm i + Fm i *m g i.
Proof.
move=> il; apply: (can_inj (mulmxK (C_unit (ltnW il)))).
by rewrite -[LHS]mulmxA (gC il) [dC _]/= -(gC (ltnW il)) [RHS]mulmxDl -(mulmxA (Fm i)).
Qed.

(* frozen layers carry dz - g z on by F *)
Lemma back (nu : shares) k s n : (k <= n <= l)%N -> (forall i h, (k <= i)%N -> nu i h = 0) ->
  let e m := dz2 (run none nu m s) - g m *m z2 (run none nu m s) in e n = 0 -> e k = 0.
Proof.
move=> kn n0 e; elim: n kn => [|n IH]; first by rewrite leqn0 => /andP[/eqP->].
case/andP; rewrite leq_eqVlt => /orP[/eqP->//|]; rewrite ltnS => kn nl En.
apply: IH; first by rewrite kn ltnW.
have : Fm n *m e n = 0.
  rewrite -En /e runS frozen => [|//|h]; last by rewrite n0.
  by rewrite /= (mulmxA (g n.+1)) gF // (mulmxDl (dFm n)) mulmxBr -(mulmxA (Fm n)) opprD addrACA subrr add0r.
by move/(canRL (mulKmx (u nl))); rewrite mulmx0.
Qed.

Definition one i (h : 'I_(H i)) (x : F) : shares := fun j k => if (j == i) && (k == h :> nat) then x else 0.

Lemma one_off i (h : 'I_(H i)) x j (k : 'I_(H j)) : j != i -> one h x k = 0.
Proof. by rewrite /one => /negPf->. Qed.

(* one head of layer i at nu = x, all else frozen *)
Lemma layer i (h : 'I_(H i)) x (y1 y2 : vec) : (i < l)%N -> kernel (fun mu => mu = none) ->
  x *: ((V dw h + V w h *m g i - g i.+1 *m V w h) *m (y1 - y2)) +
  (x * (1 - x) * dq h (State y1 y2 (g i *m y1) (g i *m y2))) *: (V w h *m (y1 - y2)) = 0.
Proof.
move=> il K; set s := State y1 y2 _ _; pose x1 := invmx (C i) *m y1; pose x2 := invmx (C i) *m y2.
have uC := C_unit (ltnW il).
have gl : dC l = 0.
  apply: mulmx_inj => v; rewrite mul0mx.
  by have [] := K none none v 0 erefl; rewrite run_frozen.
have [_ E] := K none (one h x) x1 x2 erefl.
have : dz2 (run none (one h x) i.+1 (State x1 x2 0 0))
       - g i.+1 *m z2 (run none (one h x) i.+1 (State x1 x2 0 0)) = 0.
  apply: (@back (one h x) i.+1 _ l); first by rewrite il leqnn.
    by move=> j k ij; rewrite one_off // neq_ltn ij orbT.
  by rewrite E /g gl mul0mx mul0mx subrr.
rewrite runS run_frozen // => [|j k ji]; last by rewrite one_off // neq_ltn ji.
have -> : State (C i *m z1 (State x1 x2 0 0)) (C i *m z2 (State x1 x2 0 0))
     (dC i *m z1 (State x1 x2 0 0)) (dC i *m z2 (State x1 x2 0 0)) = s.
  by rewrite /= -(gC (ltnW il)) -!(mulmxA (g i)) !mulKVmx.
rewrite /= (bigD1 h) // big1 => [|k kh]; last first.
  by rewrite /one (inj_eq val_inj) (negPf kh) andbF !(mul0r, scale0r) addr0.
rewrite (bigD1 h) // big1 => [|k kh]; last first.
  by rewrite /one (inj_eq val_inj) (negPf kh) andbF scale0r.
rewrite /one !eqxx /= -/s !addr0.
rewrite (mulmxDr (g i.+1)) (mulmxA (g i.+1)) (gF il) (mulmxDl (dFm i)) -(mulmxA (Fm i)).
rewrite opprD addrACA subrr add0r -scalemxAr [X in X = 0 -> _]addrAC -scalerBr => <-; congr (_ *: _ + _).
by rewrite -mulmxBr; move: (y1 - y2) => v; rewrite mulmxBl mulmxDl -!mulmxA.
Qed.

Lemma bil_change (G : mat) i (h : 'I_(H i)) (y1 y2 : vec) :
  dq h (State y1 y2 (G *m y1) (G *m y2)) = bil (G^T *m A w h + A w h *m G + A dw h) (y1 - y2) y2.
Proof.
rewrite /dq /bil /= -mulmxBr; move: (y1 - y2) => v.
by rewrite !mulmxDr !mulmxDl [RHS]mxE [X in _ = X + _]mxE trmx_mul !mulmxA.
Qed.

Lemma kernel_change (c : F) : c != 0 -> c != 1 -> (forall i (h : 'I_(H i)), (i < l)%N -> V w h != 0) ->
  kernel (fun mu => mu = none) -> change g.
Proof.
move=> c0 c1 V0 K.
have V6 i (h : 'I_(H i)) : (i < l)%N -> V dw h = g i.+1 *m V w h - V w h *m g i.
  move=> il; apply/eqP; rewrite -subr_eq0 opprB addrA; apply/eqP/mulmx_inj => v.
  by have := layer h 1 v 0 il K; rewrite subrr mulr0 mul0r scale0r addr0 scale1r subr0 mul0mx.
split=> //.
- by rewrite /g mul0mx.
- rewrite /g (_ : dC l = 0) ?mul0mx //; apply: mulmx_inj => v; rewrite mul0mx.
  by have [] := K none none v 0 erefl; rewrite run_frozen.
- move=> sk; elim=> [|i IH] il; first by rewrite /g mul0mx.
  have := gF il; rewrite IH ?(ltnW il) // mulmx0 addr0 => E.
  have dE : dFm i = g i.+1 *m \sum_h V w (i := i) h.
    by rewrite mulmx_sumr; apply: eq_bigr => h _; rewrite V6 // IH ?(ltnW il) // mulmx0 subr0.
  by move: E; rewrite /Fm sk mulmxDr mulmx1 -dE -[RHS]add0r => /addIr.
move=> i h il; split; first exact: V6.
apply/eqP; rewrite -subr_eq0 opprB opprK; apply/eqP.
suff : (g i)^T *m A w h + A w h *m g i + A dw h = 0 by rewrite addrC [X in _ + X]addrC.
apply: (bil_off_kernel (V0 i h il)) => v y Vv.
have := layer h c (v + y) y il K; rewrite bil_change addrK V6 //.
rewrite subrK subrr mul0mx scaler0 add0r => /eqP.
by rewrite scaler_eq0 (negPf Vv) orbF !mulf_eq0 (negPf c0) subr_eq0 [1 == c]eq_sym (negPf c1) => /eqP.
Qed.
End Kernel.

(* an infinitesimal change of basis is in the kernel, for all shares *)
Lemma change_kernel gg : change gg -> kernel (fun=> True).
Proof.
move=> [g0 gl gs D] mu nu x1 x2 _ s.
suff E k : (k <= l)%N -> let s := run mu nu k (State x1 x2 0 0) in
    dz1 s = gg k *m z1 s /\ dz2 s = gg k *m z2 s.
  by rewrite /s; have [-> ->] := E l (leqnn l); rewrite gl !mul0mx.
elim: k => [|i IH] il; first by rewrite /= g0 !mul0mx.
rewrite runS; move: (run mu nu i _) (IH (ltnW il)) => [y1 y2 dy1 dy2] /= [-> ->].
have dFE v : dFm i *m v + Fm i *m (gg i *m v) = gg i.+1 *m (Fm i *m v).
  have dE : dFm i = gg i.+1 *m (\sum_h V w (i := i) h) - (\sum_h V w (i := i) h) *m gg i.
    by rewrite mulmx_sumr mulmx_suml -sumrB; apply: eq_bigr => h _; have [] := D i h il.
  rewrite !mulmxA -mulmxDl; congr (_ *m v); rewrite dE /Fm mulmxDl mulmxDr.
  case: skip gs => [/(_ isT) gs|_]; last by rewrite mulmx0 mul0mx !add0r subrK.
  by rewrite !gs ?(ltnW il) // !(mul0mx, mulmx0) subr0 !addr0.
have q0 (h : 'I_(H i)) v y : bil ((gg i)^T *m A w h + A w h *m gg i + A dw h) v y = 0 :> F.
  by have [_ ->] := D i h il; rewrite addrACA !subrr addr0 /bil mulmx0 mul0mx mxE.
have S (x e : 'I_(H i) -> F) : (forall h, e h = 0) ->
    \sum_h (x h *: (V dw h *m (y1 - y2) + V w h *m (gg i *m y1 - gg i *m y2)) +
            (x h * (1 - x h) * e h) *: (V w h *m (y1 - y2))) = gg i.+1 *m \sum_h x h *: (V w h *m (y1 - y2)).
  move=> e0; rewrite mulmx_sumr; apply: eq_bigr => h _; have [-> _] := D i h il.
  by rewrite e0 mulr0 scale0r addr0 -scalemxAr -mulmxBr !mulmxA -mulmxDl subrK.
have e0 v y (h : 'I_(H i)) : dq h (State v y (gg i *m v) (gg i *m y)) = 0 by rewrite bil_change q0.
have p0 h : dp (i := i) h (State y1 y2 (gg i *m y1) (gg i *m y2)) = 0 := e0 y2 y1 h.
by rewrite /= !dFE (S _ _ p0) (S _ _ (e0 y1 y2)) -mulmxBr -mulmxDr.
Qed.

(* different bases move the weights in different directions, without skip *)
Lemma change_unique gg gg' : (forall i, (i < l)%N -> Fm i \in unitmx) -> change gg -> change gg' ->
  forall i, (i <= l)%N -> gg i = gg' i.
Proof.
move=> u [g0 _ gs D] [g0' _ gs' D']; elim=> [|i IH] il; first by rewrite g0 g0'.
case: (boolP skip) => [sk|/negPf sk]; first by rewrite gs // gs'.
apply: (can_inj (mulmxK (u i il))); rewrite /Fm sk add0r !mulmx_sumr; apply: eq_bigr => h _.
have [E _] := D i h il; have [E' _] := D' i h il.
by move: E; rewrite E' (IH (ltnW il)) => /addIr.
Qed.

Theorem E_after_step_1 (c : F) : c != 0 -> c != 1 ->
  (forall i, (i < l)%N -> Fm i \in unitmx) -> (forall i (h : 'I_(H i)), (i < l)%N -> V w h != 0) ->
  [/\ kernel (fun=> True) <-> exists gg, change gg, kernel (fun mu => mu = none) <-> exists gg, change gg,
      forall gg gg', change gg -> change gg' -> forall i, (i <= l)%N -> gg i = gg' i &
      skip -> forall gg, change gg -> forall i (h : 'I_(H i)), (i < l)%N -> V dw h = 0 /\ A dw h = 0].
Proof.
move=> c0 c1 u V0.
have K : kernel (fun mu => mu = none) -> exists gg, change gg.
  by move=> K; exists g; apply: kernel_change c0 c1 V0 K.
split.
- by split=> [Kt|[gg /change_kernel//]]; apply: K => mu nu x1 x2 _; apply: Kt.
- by split=> // -[gg /change_kernel Kt] mu nu x1 x2 _; apply: Kt.
- by move=> gg gg'; apply: change_unique.
move=> sk gg [_ _ /(_ sk) gs D] i h il; have [-> ->] := D i h il.
by rewrite !gs ?(ltnW il) // trmx0 !(mul0mx, mulmx0) !subr0 oppr0.
Qed.

End TheoremE.
Print Assumptions E_after_step_1.
