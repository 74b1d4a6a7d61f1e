(* Theorem A (docs/mathematics/softmax.md) after Lemma G, and of Theorem A' (beyond/docs/causal_softmax.md) the
   statement on the dimension after the independence of the Q_i, for every depth. The statement on fibres of A' is not here.
   The freed two-token network: tokens x1, x2 in F^n, with a layer of shares (mu, nu) and delta = x1 - x2,
     x1 -> x1 - mu delta,   x2 -> x2 + nu delta;
   a direction Mdot moves the shares by mu (1 - mu) pdot and nu (1 - nu) qdot (total derivatives of the logits).
   If for all tokens and all shares with mu = 0, those of the causal network, the derivative of (L x1', L x2')
   vanishes and L <> 0, then Ldot = 0 and every Mdot = 0. Of the M nothing is assumed: what the theorems ask of
   them makes the shares free. Without the mask there are more shares, so a direction
   in the kernel satisfies the same hypothesis: one theorem serves both. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory. Local Open Scope ring_scope.

Section TheoremA.
Variables (F : fieldType) (n d : nat).
Notation vec := 'cV[F]_n.
Notation mat := 'M[F]_n.

Definition bil (A : mat) (u v : vec) : F := (u^T *m A *m v) 0 0.

Record state := State { x1 : vec; x2 : vec; dx1 : vec; dx2 : vec }.

Definition pdot (M Md : mat) (s : state) : F :=
  bil M (dx2 s - dx1 s) (x1 s) + bil M (x2 s - x1 s) (dx1 s) + bil Md (x2 s - x1 s) (x1 s).
Definition qdot (M Md : mat) (s : state) : F :=
  bil M (dx1 s - dx2 s) (x2 s) + bil M (x1 s - x2 s) (dx2 s) + bil Md (x1 s - x2 s) (x2 s).

Definition step (l : mat * mat) (sh : F * F) (s : state) : state :=
  let: (M, Md) := l in let: (mu, nu) := sh in
  let de := x1 s - x2 s in let dde := dx1 s - dx2 s in
  State (x1 s - mu *: de) (x2 s + nu *: de)
        (dx1 s - mu *: dde - (mu * (1 - mu) * pdot M Md s) *: de)
        (dx2 s + nu *: dde + (nu * (1 - nu) * qdot M Md s) *: de).

Fixpoint run (ls : seq (mat * mat)) (shs : seq (F * F)) (s : state) : state :=
  match ls, shs with
  | l :: ls', sh :: shs' => run ls' shs' (step l sh s)
  | _, _ => s
  end.

Definition frozen k : seq (F * F) := nseq k (0, 0).

Lemma step0 l s : step l (0, 0) s = s.
Proof.
case: l => M Md; case: s => a b da db /=; rewrite /step /=.
by rewrite !mul0r !scale0r !subr0 !addr0.
Qed.

Lemma run_frozen ls s : run ls (frozen (size ls)) s = s.
Proof. by elim: ls s => //= l ls IH s; rewrite step0 IH. Qed.

Lemma run_one ls1 l ls2 sh s :
  run (ls1 ++ l :: ls2) (frozen (size ls1) ++ sh :: frozen (size ls2)) s = step l sh s.
Proof.
elim: ls1 s => [|l1 ls1 IH] s /=; first by rewrite run_frozen.
by rewrite step0 IH.
Qed.

Definition causal (nus : seq F) : seq (F * F) := [seq (0, nu) | nu <- nus].

Definition kernel (L Ld : 'M[F]_(d, n)) (ls : seq (mat * mat)) :=
  forall (a b : vec) (nus : seq F), size nus = size ls ->
    let s := run ls (causal nus) (State a b 0 0) in
    Ld *m x1 s + L *m dx1 s = 0 /\ Ld *m x2 s + L *m dx2 s = 0.

Lemma mulmx_all0 m (A : 'M[F]_(m, n)) : (forall v : vec, A *m v = 0) -> A = 0.
Proof.
move=> H; apply/matrixP=> i j; rewrite mxE.
have /matrixP/(_ i 0) := H (delta_mx j 0).
by rewrite -colE !mxE.
Qed.

Lemma bil_all0 (A : mat) : (forall u v : vec, bil A u v = 0) -> A = 0.
Proof.
move=> H; apply/matrixP=> i j; rewrite mxE.
have := H (delta_mx i 0) (delta_mx j 0).
by rewrite /bil trmx_delta -rowE -colE !mxE.
Qed.

Lemma bilDl A u v w : bil A (u + v) w = bil A u w + bil A v w.
Proof. by rewrite /bil linearD /= !mulmxDl mxE. Qed.
Lemma bil0l A v : bil A 0 v = 0.
Proof. by rewrite /bil trmx0 !mul0mx mxE. Qed.
Lemma bil0r A v : bil A v 0 = 0.
Proof. by rewrite /bil mulmx0 mxE. Qed.

(* a bilinear form that vanishes at (u, v) whenever L u <> 0 is zero *)
Lemma bil_off_kernel (L : 'M[F]_(d, n)) (A : mat) :
  L != 0 -> (forall u v : vec, L *m u != 0 -> bil A u v = 0) -> A = 0.
Proof.
move=> L0 H; apply: bil_all0 => u v.
have [w Lw] : exists w : vec, L *m w != 0.
  case: (pickP (fun j : 'I_n => L *m (delta_mx j 0 : vec) != 0)) => [j Hj|H0].
    by exists (delta_mx j 0).
  case/eqP: L0; apply: mulmx_all0 => v0.
  have -> : v0 = \sum_j v0 j 0 *: (delta_mx j 0 : vec).
    rewrite {1}[v0]matrix_sum_delta; apply: eq_bigr => j _; by rewrite big_ord1.
  rewrite mulmx_sumr big1 // => j _; rewrite -scalemxAr.
  by move/negbT/negPn/eqP: (H0 j) => ->; rewrite scaler0.
case: (boolP (L *m u == 0)) => [/eqP Lu|Lu]; last exact: H.
have := H (u + w) v; rewrite mulmxDr Lu add0r => /(_ Lw).
by rewrite bilDl (H w v Lw) addr0.
Qed.

Theorem A_after_G (L Ld : 'M[F]_(d, n)) ls (c : F) :
  c != 0 -> c != 1 -> L != 0 -> kernel L Ld ls -> Ld = 0 /\ forall l, l \in ls -> l.2 = 0.
Proof.
move=> c0 c1 L0 K.
have Ld0 : Ld = 0.
  apply: mulmx_all0 => v.
  have [H _] := K v v (nseq (size ls) 0) (size_nseq _ _).
  by move: H; rewrite /causal map_nseq run_frozen /= mulmx0 addr0.
split=> // -[M Md] /= inls; case/splitPr: inls K => ls1 ls2 K.
apply: (bil_off_kernel L0) => u v Lu.
pose nus := nseq (size ls1) 0 ++ c :: nseq (size ls2) 0.
have sz : size nus = size (ls1 ++ (M, Md) :: ls2) by rewrite !size_cat /= !size_nseq.
have [_ H] := K (v + u) v nus sz.
move: H; rewrite /causal map_cat /= !map_nseq run_one Ld0 mul0mx add0r /= /qdot /=.
rewrite !subr0 !scaler0 !addr0 !add0r bil0l bil0r !add0r.
have -> : v + u - v = u by rewrite addrAC subrr add0r.
rewrite -scalemxAr => /eqP.
rewrite scaler_eq0 (negPf Lu) orbF !mulf_eq0 (negPf c0) subr_eq0 [1 == c]eq_sym (negPf c1) /=.
by move/eqP.
Qed.

End TheoremA.
Print Assumptions A_after_G.
