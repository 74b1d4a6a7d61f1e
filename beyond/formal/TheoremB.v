(* Theorem B (beyond/docs/softmax_uniqueness.md) after the Tower lemma, for every depth, for softmax itself on two
   tokens, the second of weight m > 0. R is any ordered field and ex any function with the laws of `exponential`, such as
   the real numbers and their exponential. `tower_lemma` is what Step 1 uses of the Tower lemma: if two
   networks agree, they agree for all positive exponentials P, Q, P', Q' of their first layers which satisfy as
   products the integer relations that the logits p, q, p', q' satisfy as sums. Step 0, the three cases of Step 1,
   (dagger), continuity and Steps 2 to 6 are proved here. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory. Local Open Scope ring_scope.

Section TheoremB.
Variables (R : realFieldType) (n d : nat) (m : R) (ex : R -> R).
Notation vec := 'cV[R]_n.
Notation mat := 'M[R]_n.

Definition exponential :=
  [/\ forall x y, ex (x + y) = ex x * ex y, forall x, 0 < ex x, forall x, ex x = 1 -> x = 0 &
      forall x e, 0 < e -> exists2 r, 0 < r & forall y, `|y - x| < r -> `|ex y - ex x| < e].

(* two tokens, the second of weight m *)
Definition bil (A : mat) (u v : vec) : R := (u^T *m A *m v) 0 0.
Definition p (M : mat) (x : vec * vec) := bil M (x.2 - x.1) x.1.
Definition q (M : mat) (x : vec * vec) := bil M (x.1 - x.2) x.2.
Definition shift (mu nu : R) (x : vec * vec) : vec * vec :=
  (x.1 - mu *: (x.1 - x.2), x.2 + nu *: (x.1 - x.2)).
(* x S(P, Q) *)
Definition S (P Q : R) := shift (m * P / (1 + m * P)) (Q / (Q + m)).
Definition layer M x := S (ex (p M x)) (ex (q M x)) x.
Fixpoint tokens (Ms : seq mat) x := if Ms is M :: Ms' then tokens Ms' (layer M x) else x.
Definition net (L : 'M[R]_(d, n)) Ms x := (L *m (tokens Ms x).1, L *m (tokens Ms x).2).

(* what the Tower lemma gives for two networks with the first layers M and M' *)
Definition related M M' (P Q P' Q' : R) := forall a b a' b' : int,
  (forall x, a%:~R * p M x + b%:~R * q M x + a'%:~R * p M' x + b'%:~R * q M' x = 0) ->
  P ^ a * Q ^ b * P' ^ a' * Q' ^ b' = 1.
Definition tower_lemma := forall L M Ms L' M' Ms', (forall x, net L (M :: Ms) x = net L' (M' :: Ms') x) ->
  forall P Q P' Q', 0 < P -> 0 < Q -> 0 < P' -> 0 < Q' -> related M M' P Q P' Q' ->
  forall x, net L Ms (S P Q x) = net L' Ms' (S P' Q' x).

(* limits for s -> 0, s > 0 *)
Definition soon (A : R -> Prop) := exists2 r, 0 < r & forall s, 0 < s -> s < r -> A s.
Definition tends (f : R -> R) a := forall e, 0 < e -> soon (fun s => `|f s - a| < e).

Lemma soon_and A B : soon A -> soon B -> soon (fun s => A s /\ B s).
Proof.
case=> r r0 Ar [t t0 Bt]; exists (Num.min r t); first by rewrite lt_minr r0.
by move=> s s0; rewrite lt_minr => /andP[sr st]; split; [apply: Ar|apply: Bt].
Qed.

Lemma soon_imp (A B : R -> Prop) : (forall s, 0 < s -> A s -> B s) -> soon A -> soon B.
Proof. by move=> AB [r r0 Ar]; exists r => // s s0 sr; apply: AB => //; apply: Ar. Qed.

Lemma soon_ex A : soon A -> exists2 s, 0 < s & A s.
Proof.
case=> r r0 Ar; have r2 : 0 < r / 2%:R by rewrite divr_gt0 // ltr0n.
by exists (r / 2%:R) => //; apply: Ar => //; rewrite [X in _ < X](splitr r) ltr_addl.
Qed.

Lemma tends_eq f g a : (forall s, 0 < s -> f s = g s) -> tends f a -> tends g a.
Proof. by move=> E fa e e0; apply: soon_imp (fa e e0) => s s0; rewrite E. Qed.

Lemma tends_const a : tends (fun=> a) a.
Proof. by move=> e e0; exists 1 => // s _ _; rewrite subrr normr0. Qed.

Lemma tends_id : tends id 0.
Proof. by move=> e e0; exists e => // s s0 se; rewrite subr0 gtr0_norm. Qed.

Lemma tendsD f g a b : tends f a -> tends g b -> tends (fun s => f s + g s) (a + b).
Proof.
move=> fa gb e e0; have e2 : 0 < e / 2%:R by rewrite divr_gt0 // ltr0n.
apply: soon_imp (soon_and (fa _ e2) (gb _ e2)) => s _ [fe ge].
rewrite opprD addrACA; apply: le_lt_trans (ler_norm_add _ _) _.
by rewrite [e]splitr ltr_add.
Qed.

Lemma tendsM0 f g b : tends f 0 -> tends g b -> tends (fun s => f s * g s) 0.
Proof.
move=> f0 gb e e0; have k0 : 0 < `|b| + 1 by rewrite ltr_spaddr.
have ek : 0 < e / (`|b| + 1) by rewrite divr_gt0 // ltr0n.
apply: soon_imp (soon_and (f0 _ ek) (gb _ ltr01)) => s _ [fe ge].
move: fe; rewrite !subr0 normrM => fe.
have gk : `|g s| < `|b| + 1.
  rewrite -[g s](subrK b) addrC; apply: le_lt_trans (ler_norm_add _ _) _; by rewrite ltr_add2l.
rewrite -[e](mulfVK (lt0r_neq0 k0)); apply: le_lt_trans (_ : `|f s| * (`|b| + 1) < _).
  by apply: ler_wpmul2l => //; apply: ltW.
by rewrite ltr_pmul2r.
Qed.

Lemma tends0 f a : tends f a <-> tends (fun s => f s - a) 0.
Proof. by split=> fa e e0; apply: soon_imp (fa e e0) => s _; rewrite subr0. Qed.

Lemma tendsM f g a b : tends f a -> tends g b -> tends (fun s => f s * g s) (a * b).
Proof.
move=> fa gb; have /tendsD := tendsM0 ((tends0 _ _).1 fa) gb.
move=> /(_ (fun s => (g s - b) * a) 0 (tendsM0 ((tends0 _ _).1 gb) (tends_const a))) E.
apply/tends0; rewrite addr0 in E; apply: tends_eq E => s _.
by rewrite mulrBl mulrBl addrA [a * _]mulrC subrK [a * b]mulrC.
Qed.

Lemma tends_uniq f a b : tends f a -> tends f b -> a = b.
Proof.
move=> fa fb; apply/eqP; rewrite -subr_eq0 -normr_eq0; apply/negPn/negP => N.
have e0 : 0 < `|a - b| / 2%:R by rewrite divr_gt0 ?ltr0n // normr_gt0 -normr_eq0.
have [s _ [sa sb]] := soon_ex (soon_and (fa _ e0) (fb _ e0)).
have : `|a - b| < `|a - b|; last by rewrite ltxx.
rewrite {1}(_ : a - b = (a - f s) + (f s - b)); last by rewrite addrA subrK.
apply: le_lt_trans (ler_norm_add _ _) _; rewrite [X in _ < X]splitr distrC; exact: ltr_add.
Qed.

Lemma tends_nz f a : a != 0 -> tends f a -> soon (fun s => f s != 0).
Proof.
move=> a0 fa; have e0 : 0 < `|a| by rewrite normr_gt0.
by apply: soon_imp (fa _ e0) => s _; apply: contraL => /eqP->; rewrite sub0r normrN ltxx.
Qed.

Lemma tendsV f a : a != 0 -> tends f a -> tends (fun s => (f s)^-1) a^-1.
Proof.
move=> a0 fa e e0; have h0 : 0 < `|a| / 2%:R by rewrite divr_gt0 ?normr_gt0 ?ltr0n.
have k0 : 0 < e * (`|a| * (`|a| / 2%:R)) by rewrite mulr_gt0 // mulr_gt0 ?normr_gt0 // .
apply: soon_imp (soon_and (fa _ h0) (fa _ k0)) => s _ [fh fk].
have fs : `|a| / 2%:R < `|f s|.
  rewrite -(ltr_add2r (`|a| / 2%:R)) -splitr; apply: le_lt_trans (_ : `|f s| + `|a - f s| < _).
    by rewrite -{1}(subrK (f s) a) addrC ler_norm_add.
  by rewrite distrC ltr_add2l.
have f0 : f s != 0 by rewrite -normr_gt0; apply: lt_trans h0 fs.
have -> : (f s)^-1 - a^-1 = (a - f s) / (a * f s).
  by rewrite mulrBl invfM mulrA mulfV // mul1r mulrCA mulfV // mulr1.
rewrite normrM normrV ?unitfE ?mulf_neq0 // ltr_pdivr_mulr ?normr_gt0 ?mulf_neq0 // distrC.
by apply: lt_trans fk _; rewrite ltr_pmul2l // normrM ltr_pmul2l // normr_gt0.
Qed.

Lemma tendsN f a : tends f a -> tends (fun s => - f s) (- a).
Proof. by move=> fa e e0; apply: soon_imp (fa e e0) => s _; rewrite -opprD normrN. Qed.

Lemma tendsX f a k : tends f a -> tends (fun s => f s ^+ k) (a ^+ k).
Proof.
move=> fa; elim: k => [|k IH]; first exact: tends_const.
by rewrite exprS; apply: tends_eq (tendsM fa IH) => s _; rewrite exprS.
Qed.

Definition tm j k (f : R -> 'M[R]_(j, k)) (a : 'M_(j, k)) := forall u v, tends (fun s => f s u v) (a u v).

Lemma tm_const j k (a : 'M_(j, k)) : tm (fun=> a) a.
Proof. by move=> u v; apply: tends_const. Qed.
Lemma tmD j k (f g : R -> 'M_(j, k)) a b : tm f a -> tm g b -> tm (fun s => f s + g s) (a + b).
Proof. by move=> fa gb u v; rewrite mxE; apply: tends_eq (tendsD (fa u v) (gb u v)) => s _; rewrite mxE. Qed.
Lemma tmZ j k (c : R -> R) (f : R -> 'M_(j, k)) c0 a :
  tends c c0 -> tm f a -> tm (fun s => c s *: f s) (c0 *: a).
Proof. by move=> cc fa u v; rewrite mxE; apply: tends_eq (tendsM cc (fa u v)) => s _; rewrite mxE. Qed.
Lemma tmB j k (f g : R -> 'M_(j, k)) a b : tm f a -> tm g b -> tm (fun s => f s - g s) (a - b).
Proof.
move=> fa gb u v; rewrite !mxE; apply: tends_eq (tendsD (fa u v) (tendsN (gb u v))) => s _.
by rewrite !mxE.
Qed.
Lemma tmT j k (f : R -> 'M_(j, k)) a : tm f a -> tm (fun s => (f s)^T) a^T.
Proof. by move=> fa u v; rewrite mxE; apply: tends_eq (fa v u) => s _; rewrite mxE. Qed.
Lemma tmM j k h (f : R -> 'M_(j, k)) (g : R -> 'M_(k, h)) a b :
  tm f a -> tm g b -> tm (fun s => f s *m g s) (a *m b).
Proof.
move=> fa gb u v; rewrite mxE.
have E (r : seq 'I_k) : tends (fun s => \sum_(w <- r) f s u w * g s w v) (\sum_(w <- r) a u w * b w v).
  elim: r => [|w r IH].
    by rewrite big_nil; apply: tends_eq (tends_const 0) => s _; rewrite big_nil.
  rewrite big_cons; apply: tends_eq (tendsD (tendsM (fa u w) (gb w v)) IH) => s _.
  by rewrite big_cons.
by apply: tends_eq (E _) => s _; rewrite mxE.
Qed.
Lemma tm_uniq j k (f : R -> 'M_(j, k)) a b : tm f a -> tm f b -> a = b.
Proof. by move=> fa fb; apply/matrixP => u v; apply: tends_uniq (fa u v) (fb u v). Qed.

Definition t2 k (f : R -> 'cV[R]_k * 'cV[R]_k) (a : 'cV_k * 'cV_k) :=
  tm (fun s => (f s).1) a.1 /\ tm (fun s => (f s).2) a.2.

Lemma t2_const k (a : 'cV_k * 'cV_k) : t2 (fun=> a) a.
Proof. by split; apply: tm_const. Qed.
Lemma t2_uniq k (f : R -> 'cV_k * 'cV_k) a b : t2 f a -> t2 f b -> a = b.
Proof.
case: a b => a1 a2 [b1 b2] [/= f1 f2] [/= g1 g2].
by rewrite (tm_uniq f1 g1) (tm_uniq f2 g2).
Qed.
Lemma t2_eq k (f g : R -> 'cV_k * 'cV_k) a : (forall s, 0 < s -> f s = g s) -> t2 f a -> t2 g a.
Proof.
by move=> E [f1 f2]; split=> u v; [apply: tends_eq (f1 u v)|apply: tends_eq (f2 u v)] => s s0; rewrite E.
Qed.

Lemma shift_tends mu nu x mu0 nu0 x0 : tends mu mu0 -> tends nu nu0 -> t2 x x0 ->
  t2 (fun s => shift (mu s) (nu s) (x s)) (shift mu0 nu0 x0).
Proof. by move=> mm nn [x1 x2]; split; [apply: tmB|apply: tmD] => //; apply: tmZ => //; apply: tmB. Qed.

Variables (m0 : 0 < m) (X : exponential).

Lemma ex_tends f a : tends f a -> tends (fun s => ex (f s)) (ex a).
Proof.
case: X => _ _ _ C fa e e0; have [r r0 Cr] := C a e e0.
by apply: soon_imp (fa r r0) => s _; apply: Cr.
Qed.

Lemma layer_tends M x x0 : t2 x x0 -> t2 (fun s => layer M (x s)) (layer M x0).
Proof.
case: (X) => _ ex0 _ _ xx; have [x1 x2] := xx.
have pp : tends (fun s => ex (p M (x s))) (ex (p M x0)).
  apply: ex_tends; rewrite /p /bil; apply: (tmM (tmM (tmT (tmB x2 x1)) (tm_const M)) x1).
have qq : tends (fun s => ex (q M (x s))) (ex (q M x0)).
  apply: ex_tends; rewrite /q /bil; apply: (tmM (tmM (tmT (tmB x1 x2)) (tm_const M)) x2).
apply: shift_tends => //; apply: tendsM.
- exact: tendsM (tends_const m) pp.
- apply: tendsV; first by rewrite lt0r_neq0 // addr_gt0 ?ltr01 ?mulr_gt0.
  exact: tendsD (tends_const 1) (tendsM (tends_const m) pp).
- exact: qq.
apply: tendsV; first by rewrite lt0r_neq0 // addr_gt0.
exact: tendsD qq (tends_const m).
Qed.

Lemma net_tends L Ms x x0 : t2 x x0 -> t2 (fun s => net L Ms (x s)) (net L Ms x0).
Proof.
elim: Ms x x0 => [|M Ms IH] x x0 xx; last exact: (IH _ _ (layer_tends M xx)).
by have [x1 x2] := xx; split; apply: tmM => //; apply: tm_const.
Qed.

(* equal tokens stay equal *)
Lemma equal_tokens L Ms (y : vec) : net L Ms (y, y) = (L *m y, L *m y).
Proof.
elim: Ms => [//|M Ms IH]; rewrite -IH /net /= (_ : layer M (y, y) = (y, y)) //.
by rewrite /layer /S /shift /= subrr !scaler0 subr0 addr0.
Qed.

(* (dagger) *)
Definition sym (M : mat) := M + M^T.
Definition good (v : vec) (Ms : seq mat) := forall M, M \in Ms -> bil M v v != 0.

Lemma bilE M u v r : bil M (r *: u) (r *: v) = r ^+ 2 * bil M u v.
Proof. by rewrite /bil [(_ *: _)^T]linearZ /= -!scalemxAl -scalemxAr !scalerA mxE. Qed.

Lemma bilZl M u v r : bil M (r *: u) v = r * bil M u v.
Proof. by rewrite /bil [(_ *: _)^T]linearZ /= -!scalemxAl mxE. Qed.
Lemma bilZr M u v r : bil M u (r *: v) = r * bil M u v.
Proof. by rewrite /bil -scalemxAr mxE. Qed.

Lemma sharesE P Q : 0 < P -> 0 < Q ->
  1 - m * P / (1 + m * P) - Q / (Q + m) = m * (1 - P * Q) / ((1 + m * P) * (Q + m)).
Proof.
move=> P0 Q0; have a0 : 1 + m * P != 0 by rewrite lt0r_neq0 // addr_gt0 ?ltr01 ?mulr_gt0.
have b0 : Q + m != 0 by rewrite lt0r_neq0 // addr_gt0.
rewrite (_ : 1 - m * P / (1 + m * P) = (1 + m * P)^-1); last first.
  by rewrite -{1}(mulfV a0) -mulrBl addrK mul1r.
apply: (mulIf (mulf_neq0 a0 b0)); rewrite mulfVK ?mulf_neq0 // mulrBl mulKf //.
rewrite [(1 + _) * _]mulrC mulrA mulfVK // mulrBr mulr1 mulrDr mulr1 opprD addrACA subrr add0r.
by rewrite mulrCA [Q * P]mulrC.
Qed.

Lemma shift_diff mu nu x : (shift mu nu x).1 - (shift mu nu x).2 = (1 - mu - nu) *: (x.1 - x.2).
Proof. by rewrite /shift /= opprD addrACA -opprD -scalerDl -[X in X - _]scale1r -scalerBl opprD addrA. Qed.

Lemma bilN M u v : bil M (- u) v = - bil M u v.
Proof. by rewrite /bil [(- _)^T]linearN /= !mulNmx mxE. Qed.
Lemma bilBr M u v w : bil M u (v - w) = bil M u v - bil M u w.
Proof. by rewrite /bil mulmxBr mxE [X in _ + X]mxE. Qed.
Lemma bilDr M u v w : bil M u (v + w) = bil M u v + bil M u w.
Proof. by rewrite /bil mulmxDr mxE. Qed.
Lemma bilDl M u v w : bil M (u + v) w = bil M u w + bil M v w.
Proof. by rewrite /bil [(_ + _)^T]linearD /= !mulmxDl mxE. Qed.

Lemma pq M x : p M x + q M x = - bil M (x.1 - x.2) (x.1 - x.2).
Proof. by rewrite /p /q -(opprB x.1) bilN bilBr opprB addrC. Qed.

Lemma exp0 : ex 0 = 1.
Proof.
case: X => E ex0 _ _; have := E 0 0; rewrite addr0 -{1}[ex 0]mulr1 => /mulfI H.
by rewrite H // lt0r_neq0.
Qed.

Lemma shares_nz P Q : 0 < P -> 0 < Q -> (1 - m * P / (1 + m * P) - Q / (Q + m) == 0) = (P * Q == 1).
Proof.
move=> P0 Q0; rewrite sharesE // mulf_eq0 invr_eq0 mulf_eq0 mulf_eq0.
rewrite (gt_eqF m0) (gt_eqF (addr_gt0 ltr01 (mulr_gt0 m0 P0))) (gt_eqF (addr_gt0 Q0 m0)) !orbF /=.
by rewrite subr_eq0 eq_sym.
Qed.

Lemma tokens_diff v Ms x r : good v Ms -> r != 0 -> x.1 - x.2 = r *: v ->
  exists2 r', r' != 0 & (tokens Ms x).1 - (tokens Ms x).2 = r' *: v.
Proof.
case: (X) => ED ex0 ex1 _.
elim: Ms x r => [|M Ms IH] x r g r0 xr /=; first by exists r.
set P := ex (p M x); set Q := ex (q M x); set c := 1 - m * P / (1 + m * P) - Q / (Q + m).
apply: (IH _ (c * r)).
- by move=> N Ns; apply: g; rewrite inE Ns orbT.
- apply: mulf_neq0 => //; rewrite /c shares_nz ?ex0 // -ED pq xr bilE; apply/negP => /eqP/ex1/eqP.
  by rewrite oppr_eq0 mulf_eq0 expf_eq0 /= (negPf r0) (negPf (g M _)) // inE eqxx.
by rewrite shift_diff xr scalerA.
Qed.

Lemma sym_nz M : sym M != 0 -> exists w, bil M w w != 0.
Proof.
pose e i : vec := delta_mx i 0.
have eE i j : bil M (e i) (e j) = M i j by rewrite /bil trmx_delta -rowE -colE !mxE.
move=> M0; case: (pickP (fun ij => bil M (e ij.1 + e ij.2) (e ij.1 + e ij.2) != 0)) => [ij E|N].
  by exists (e ij.1 + e ij.2).
have Z i j : M i i + M i j + (M j i + M j j) = 0.
  by have /negbT/negPn/eqP := N (i, j); rewrite bilDl !bilDr !eE.
have D i : M i i = 0.
  have /eqP := Z i i; rewrite -!mulr2n -mulrnA -mulr_natr mulf_eq0 pnatr_eq0 orbF; exact: eqP.
case/eqP: M0; apply/matrixP => i j; have := Z i j; rewrite !D add0r addr0 => E.
by rewrite !mxE.
Qed.

Lemma generic (L : 'M_(d, n)) Ms : L != 0 -> (forall M, M \in Ms -> sym M != 0) ->
  exists2 v : vec, L *m v != 0 & good v Ms.
Proof.
move=> L0; elim: Ms => [|M Ms IH] Ms0.
  case: (pickP (fun j => L *m (delta_mx j 0 : vec) != 0)) => [j Lj|N]; first by exists (delta_mx j 0).
  case/eqP: L0; apply/matrixP=> i j; have /negbT/negPn/eqP/matrixP/(_ i 0) := N j.
  by rewrite -colE !mxE.
have [N Ns|v Lv gv] := IH; first by apply: Ms0; rewrite inE Ns orbT.
case: (boolP (bil M v v == 0)) => [/eqP Mv|Mv]; last first.
  by exists v => // N; rewrite inE => /orP[/eqP->//|]; apply: gv.
have [|w Mw] := @sym_nz M; first by apply: Ms0; rewrite inE eqxx.
have vs : tm (fun s => v + s *: w) v.
  rewrite -[X in tm _ X]addr0 -(scale0r w); apply: tmD; first exact: tm_const.
  by apply: tmZ; [exact: tends_id|exact: tm_const].
have [i Li] : exists i, (L *m v) i 0 != 0.
  case: (pickP (fun i => (L *m v) i 0 != 0)) => [i E|E]; first by exists i.
  by case/eqP: Lv; apply/matrixP => i j; rewrite ord1 [RHS]mxE; apply/eqP/negPn/negbT/E.
have sL := tends_nz Li (tmM (tm_const L) vs i 0).
have sM (Ns : seq mat) : {subset Ns <= Ms} -> soon (fun s => good (v + s *: w) Ns).
  elim: Ns => [|N Ns IHs] sub; first by exists 1 => // s _ _ N.
  have tN : tends (fun s => bil N (v + s *: w) (v + s *: w)) (bil N v v).
    exact: tmM (tmM (tmT vs) (tm_const N)) vs _ _.
  have nN : bil N v v != 0 by apply/gv/sub; rewrite inE eqxx.
  have IN : {subset Ns <= Ms} by move=> A As; apply: sub; rewrite inE As orbT.
  apply: soon_imp (soon_and (tends_nz nN tN) (IHs IN)) => s _ [h1 h2] A.
  by rewrite inE => /orP[/eqP->//|]; apply: h2.
have sN : soon (fun s => bil M (v + s *: w) (v + s *: w) != 0).
  have E s : bil M (v + s *: w) (v + s *: w) = s * (bil M v w + bil M w v + s * bil M w w).
    rewrite bilDl !bilDr Mv add0r bilE bilZl bilZr.
    by rewrite expr2 !mulrDr mulrA addrA.
  case: (boolP (bil M v w + bil M w v == 0)) => [/eqP z|nz].
    exists 1; first exact: ltr01.
    by move=> s s0 _; rewrite E z add0r !mulf_neq0 // lt0r_neq0.
  have t : tends (fun s => bil M v w + bil M w v + s * bil M w w) (bil M v w + bil M w v).
    rewrite -[X in tends _ X]addr0 -(mul0r (bil M w w)); apply: tendsD; first exact: tends_const.
    by apply: tendsM; [exact: tends_id|exact: tends_const].
  by apply: soon_imp (tends_nz nz t) => s s0 h; rewrite E mulf_neq0 // lt0r_neq0.
have [s s0 [h1 [h2 h3]]] := soon_ex (soon_and sL (soon_and (sM Ms (fun _ h => h)) sN)).
exists (v + s *: w); first by apply: contraNneq h1 => ->; rewrite mxE.
by move=> N; rewrite inE => /orP[/eqP->//|]; apply: h2.
Qed.

Lemma dagger (L : 'M_(d, n)) Ms : L != 0 -> (forall M, M \in Ms -> sym M != 0) ->
  exists x, (net L Ms x).1 <> (net L Ms x).2.
Proof.
move=> L0 /(generic L0)[v Lv g]; exists (v, 0) => /eqP; rewrite -subr_eq0 -mulmxBr.
have E : (v, 0 : vec).1 - (v, 0 : vec).2 = 1 *: v by rewrite subr0 scale1r.
have [r r0 ->] := tokens_diff g (oner_neq0 _) E.
by rewrite -scalemxAr scaler_eq0 (negPf r0) (negPf Lv).
Qed.

Lemma equal_columns L Ms x : x.1 = x.2 -> (net L Ms x).1 = (net L Ms x).2.
Proof. by case: x => x1 x2 E; rewrite (_ : x1 = x2) // equal_tokens. Qed.

Lemma collapse P Q x : 0 < P -> 0 < Q -> P * Q = 1 -> (S P Q x).1 = (S P Q x).2.
Proof.
move=> P0 Q0 PQ; apply/eqP; rewrite -subr_eq0 shift_diff.
by have := shares_nz P0 Q0; rewrite PQ eqxx => /eqP->; rewrite scale0r.
Qed.

Lemma shift_onto mu nu y : 1 - mu - nu != 0 -> exists x, shift mu nu x = y.
Proof.
move=> c0; pose de := (1 - mu - nu)^-1 *: (y.1 - y.2).
have E : y.1 + mu *: de - (y.2 - nu *: de) = de.
  have yE : y.1 - y.2 = (1 - mu - nu) *: de by rewrite scalerA mulfV // scale1r.
  by rewrite opprB [X in _ + X]addrC addrACA yE -!scalerDl -[1 - _ - _]addrA -opprD subrK scale1r.
by exists (y.1 + mu *: de, y.2 - nu *: de); rewrite /shift /= E addrK subrK; case: (y).
Qed.

Lemma bilT M u v : bil M^T u v = bil M v u.
Proof. by rewrite /bil (_ : u^T *m M^T *m v = (v^T *m M *m u)^T) ?mxE // !trmx_mul trmxK mulmxA. Qed.

Lemma sym_bil M v : sym M = 0 -> bil M v v = 0.
Proof.
move=> M0; have : bil (sym M) v v = 0 by rewrite M0 /bil mulmx0 mul0mx mxE.
rewrite /sym /bil mulmxDr mulmxDl mxE -/(bil M v v) -/(bil M^T v v) bilT -mulr2n.
by move/eqP; rewrite mulrn_eq0 => /eqP.
Qed.

(* Step 0 *)
Lemma step0 (L : 'M_(d, n)) Ms : (exists x, (net L Ms x).1 <> (net L Ms x).2) ->
  L != 0 /\ forall M, M \in Ms -> sym M != 0.
Proof.
case: (X) => ED ex0 _ _ [x Ex]; split.
  by apply: contra_not_neq Ex => ->; rewrite /net !mul0mx.
elim: Ms x Ex => [//|M Ms IH] x Ex N; rewrite inE => /orP[/eqP->|]; last exact: (IH (layer M x) Ex).
apply: contra_not_neq Ex => M0; apply: (@equal_columns L Ms (layer M x)); apply: collapse => //.
by rewrite -ED pq sym_bil // oppr0 exp0.
Qed.

Lemma mu_inv t : 0 < t -> m * t^-1 / (1 + m * t^-1) = m / (t + m).
Proof.
move=> t0; have tn := lt0r_neq0 t0.
have -> : 1 + m * t^-1 = (t + m) * t^-1 by rewrite mulrDl mulfV.
by rewrite invfM invrK mulrACA mulVf // mulr1.
Qed.
Lemma nu_inv t : 0 < t -> t^-1 / (t^-1 + m) = 1 / (1 + m * t).
Proof.
move=> t0; have tn := lt0r_neq0 t0.
have -> : t^-1 + m = (1 + m * t) * t^-1 by rewrite mulrDl mulfK // mul1r.
by rewrite invfM invrK mulrCA mulVf // mulr1 mul1r.
Qed.

Section Limits.
Variables (f : R -> R) (f0 : tends f 0) (fp : forall s, 0 < s -> 0 < f s).
Lemma mu_0 : tends (fun s => m * f s / (1 + m * f s)) 0.
Proof.
rewrite -[X in tends _ X](mul0r (1 + m * 0)^-1) -{1}(mulr0 m); apply: tendsM.
  exact: tendsM (tends_const m) f0.
by apply: tendsV; [rewrite mulr0 addr0 oner_neq0|exact: tendsD (tends_const 1) (tendsM (tends_const m) f0)].
Qed.
Lemma nu_0 : tends (fun s => f s / (f s + m)) 0.
Proof.
rewrite -[X in tends _ X](mul0r (0 + m)^-1); apply: tendsM => //.
by apply: tendsV; [rewrite add0r lt0r_neq0|exact: tendsD f0 (tends_const m)].
Qed.
Lemma mu_1 : tends (fun s => m * (f s)^-1 / (1 + m * (f s)^-1)) 1.
Proof.
apply: (@tends_eq (fun s => m / (f s + m))) => [s s0|]; first by rewrite mu_inv // fp.
have E : 1 = m / (0 + m) by rewrite add0r mulfV // lt0r_neq0.
rewrite [X in tends _ X]E; apply: tendsM; first exact: tends_const.
by apply: tendsV; [rewrite add0r lt0r_neq0|exact: tendsD f0 (tends_const m)].
Qed.
Lemma nu_1 : tends (fun s => (f s)^-1 / ((f s)^-1 + m)) 1.
Proof.
apply: (@tends_eq (fun s => 1 / (1 + m * f s))) => [s s0|]; first by rewrite nu_inv // fp.
have E : 1 = 1 / (1 + m * 0) by rewrite mulr0 addr0 mulfV // oner_neq0.
rewrite [X in tends _ X]E; apply: tendsM; first exact: tends_const.
apply: tendsV; first by rewrite mulr0 addr0 oner_neq0.
exact: tendsD (tends_const 1) (tendsM (tends_const m) f0).
Qed.
End Limits.

Lemma pow_0 k : (0 < k)%N -> tends (fun s => s ^+ k) 0.
Proof. by case: k => // k _; have := tendsX k.+1 tends_id; rewrite expr0n. Qed.
Lemma pow_p k (s : R) : 0 < s -> 0 < s ^+ k. Proof. exact: exprn_gt0. Qed.

Lemma shift01 x : shift 0 1 x = (x.1, x.1).
Proof. by rewrite /shift scale0r subr0 scale1r [X in (_, X)]addrC subrK. Qed.
Lemma shift10 x : shift 1 0 x = (x.2, x.2).
Proof. by rewrite /shift scale0r addr0 scale1r subKr. Qed.

Lemma shift00 x : shift 0 0 x = x.
Proof. by rewrite /shift !scale0r subr0 addr0; case: x. Qed.

(* Step 4 *)
Lemma step4 L Ms L' Ms' a b : (0 < a)%N -> (0 < b)%N ->
  (forall u v, 0 < u -> 0 < v -> forall x,
     net L Ms (S (u ^+ a) (v ^+ a) x) = net L' Ms' (S (u ^+ b)^-1 (v ^+ b)^-1 x)) -> L = 0.
Proof.
move=> a0 b0 E; apply/matrixP => i j; rewrite mxE; pose x : vec * vec := (delta_mx j 0, 0).
have l1 : t2 (fun s => net L Ms (S (s ^+ a) (s^-1 ^+ a) x)) (net L Ms (shift 0 1 x)).
  apply: net_tends; apply: shift_tends (t2_const x); first exact: mu_0 (pow_0 a0).
  by apply: tends_eq (nu_1 (pow_0 a0) (@pow_p a)) => s s0; rewrite exprVn.
have l2 : t2 (fun s => net L Ms (S (s ^+ a) (s^-1 ^+ a) x)) (net L' Ms' (shift 1 0 x)).
  apply: (@t2_eq _ (fun s => net L' Ms' (S (s ^+ b)^-1 (s^-1 ^+ b)^-1 x))) => [s s0|].
    by rewrite E // invr_gt0.
  apply: net_tends; apply: shift_tends (t2_const x); first exact: mu_1 (pow_0 b0) (@pow_p b).
  by apply: tends_eq (nu_0 (pow_0 b0)) => s s0; rewrite exprVn invrK.
have := congr1 fst (t2_uniq l1 l2).
by rewrite shift01 shift10 !equal_tokens /= mulmx0 -colE => /matrixP/(_ i 0); rewrite !mxE.
Qed.

(* Step 5 *)
Lemma step5 L Ms L' Ms' a b : (0 < a < b)%N ->
  (forall u v, 0 < u -> 0 < v -> forall x,
     net L Ms (S (u ^+ a) (v ^+ a) x) = net L' Ms' (S (u ^+ b) (v ^+ b) x)) ->
  forall y, (net L Ms y).1 = (net L Ms y).2.
Proof.
case/andP=> a0 ab E y; have b0 : (0 < b)%N by apply: leq_trans ab.
pose mu P := m * P / (1 + m * P).
have E1 u x : 0 < u -> net L Ms (shift (mu (u ^+ a)) 0 x) = net L' Ms' (shift (mu (u ^+ b)) 0 x).
  move=> u0; apply: (@t2_uniq _ (fun s => net L Ms (S (u ^+ a) (s ^+ a) x))).
    by apply: net_tends; apply: shift_tends (t2_const x); [exact: tends_const|exact: nu_0 (pow_0 a0)].
  apply: (@t2_eq _ (fun s => net L' Ms' (S (u ^+ b) (s ^+ b) x))) => [s s0|]; first by rewrite E.
  by apply: net_tends; apply: shift_tends (t2_const x); [exact: tends_const|exact: nu_0 (pow_0 b0)].
have P1 u k : 0 < u -> 1 + m * u ^+ k != 0.
  by move=> u0; rewrite lt0r_neq0 // addr_gt0 ?ltr01 // mulr_gt0 // exprn_gt0.
have mu1 u k : 0 < u -> 1 - mu (u ^+ k) = (1 + m * u ^+ k)^-1.
  by move=> u0; rewrite -{1}(mulfV (P1 u k u0)) -mulrBl addrK mul1r.
pose tau u := (1 + m * u ^+ a) / (1 + m * u ^+ b).
have E2 u : 0 < u -> net L Ms y = net L' Ms' (y.2 + tau u *: (y.1 - y.2), y.2).
  move=> u0; pose x := (y.2 + (1 + m * u ^+ a) *: (y.1 - y.2), y.2).
  have sh c : shift c 0 x = (y.2 + ((1 - c) * (1 + m * u ^+ a)) *: (y.1 - y.2), y.2).
    rewrite /shift /x /= scale0r addr0 [y.2 + _]addrC addrK -scalerA scalerBl scale1r.
    by rewrite addrAC [RHS in (RHS, _)]addrC.
  have := E1 u x u0; rewrite !sh !mu1 // mulVf ?P1 // scale1r [y.2 + (_ - _)]addrC subrK.
  by rewrite [_^-1 * _]mulrC -surjective_pairing.
have t0 : tends (fun s => tau s^-1) 0.
  apply: (@tends_eq (fun s => (s ^+ b + m * s ^+ (b - a)) / (s ^+ b + m))) => [s s0|].
    have sb : s ^+ b != 0 by rewrite lt0r_neq0 // exprn_gt0.
    have sa : s ^+ a != 0 by rewrite lt0r_neq0 // exprn_gt0.
    rewrite /tau !exprVn (_ : 1 + m / s ^+ b = (s ^+ b + m) / s ^+ b); last by rewrite mulrDl mulfV.
    rewrite (_ : 1 + m / s ^+ a = (s ^+ b + m * s ^+ (b - a)) / s ^+ b).
      by rewrite invfM invrK mulrACA mulVf // mulr1.
    rewrite mulrDl mulfV //; congr (_ + _); rewrite -mulrA; congr (_ * _).
    have -> : s ^+ b = s ^+ (b - a) * s ^+ a by rewrite -exprD subnK // ltnW.
    by rewrite invfM mulrA mulfV ?mul1r // lt0r_neq0 // exprn_gt0.
  have ba : (0 < b - a)%N by rewrite subn_gt0.
  have Z0 : 0 = (0 + m * 0) / (0 + m) by rewrite mulr0 addr0 mul0r.
  rewrite [X in tends _ X]Z0; apply: tendsM.
    exact: tendsD (pow_0 b0) (tendsM (tends_const m) (pow_0 ba)).
  by apply: tendsV; [rewrite add0r lt0r_neq0|exact: tendsD (pow_0 b0) (tends_const m)].
have l : t2 (fun s => (y.2 + tau s^-1 *: (y.1 - y.2), y.2)) (y.2, y.2).
  split; last exact: tm_const.
  rewrite -[X in tm _ X]addr0 -(scale0r (y.1 - y.2)); apply: tmD; first exact: tm_const.
  exact: tmZ t0 (tm_const _).
have -> : net L Ms y = net L' Ms' (y.2, y.2).
  apply: (@t2_uniq _ (fun=> net L Ms y)); first exact: t2_const.
  by apply: t2_eq (net_tends L' Ms' l) => s s0; rewrite -E2 // invr_gt0.
by rewrite equal_tokens.
Qed.

(* Step 1: which relations hold *)
Lemma form0 (N : mat) : (forall v, bil N v v = 0) -> sym N = 0.
Proof. by move=> Z; apply/eqP/negPn/negP => /sym_nz[w]; rewrite Z eqxx. Qed.

Lemma symZ (a : R) N : sym (a *: N) = a *: sym N.
Proof. by rewrite /sym linearZ /= scalerDr. Qed.
Lemma symD N N' : sym (N + N') = sym N + sym N'.
Proof. by rewrite /sym linearD /= addrACA. Qed.
Lemma bil_lin (N N' : mat) (a a' : R) u v : bil (a *: N + a' *: N') u v = a * bil N u v + a' * bil N' u v.
Proof. by rewrite /bil mulmxDr mulmxDl mxE -!scalemxAr -!scalemxAl !mxE. Qed.
Lemma bil0r N u : bil N u 0 = 0. Proof. by rewrite /bil mulmx0 mxE. Qed.
Lemma bil0l N u : bil N 0 u = 0. Proof. by rewrite /bil trmx0 !mul0mx mxE. Qed.

Lemma bilDm N N' u v : bil (N + N') u v = bil N u v + bil N' u v.
Proof. by have := bil_lin N N' 1 1 u v; rewrite !scale1r !mul1r. Qed.
Lemma cancel8 (x y z w e r : R) : x - e + (y - r) + (z + e) + (w + r) = x + y + (z + w).
Proof. by rewrite -[LHS]addrA [x - e + _]addrACA [z + e + _]addrACA -opprD addrACA addNr addr0. Qed.

Lemma relations M M' (a b a' b' : R) :
  (forall x, a * p M x + b * q M x + a' * p M' x + b' * q M' x = 0) ->
  [/\ a *: sym M + a' *: sym M' = 0, b *: sym M + b' *: sym M' = 0 &
      a *: M + b *: M^T + (a' *: M' + b' *: M'^T) = 0].
Proof.
move=> E.
have E1 v : bil (a *: M + a' *: M') v v = 0.
  have := E (v, 0); rewrite /p /q /= subr0 sub0r !bil0r !bilN !mulr0 !addr0 bil_lin !mulrN -opprD.
  by move/eqP; rewrite oppr_eq0 => /eqP.
have E2 v : bil (b *: M + b' *: M') v v = 0.
  have := E (0, v); rewrite /p /q /= subr0 sub0r !bil0r !bilN !mulr0 add0r addr0 bil_lin !mulrN -opprD.
  by move/eqP; rewrite oppr_eq0 => /eqP.
split; [by rewrite -!symZ -symD form0|by rewrite -!symZ -symD form0|].
have E3 u v : bil (a *: M + b *: M^T + (a' *: M' + b' *: M'^T)) u v = 0.
  rewrite bilDm !bil_lin !bilT; have := E (v, u); have := E1 v; have := E2 u.
  rewrite !bil_lin /p /q /= !bilDl !bilN => /(canRL (addKr _)); rewrite addr0 => e2.
  move=> /(canRL (addKr _)); rewrite addr0 => e1.
  by rewrite ![_ * (_ - _)]mulrBr e1 e2 !opprK cancel8.
apply/matrixP => i j; have := E3 (delta_mx i 0) (delta_mx j 0).
by rewrite /bil trmx_delta -rowE -colE !mxE.
Qed.

(* Steps 2 to 5: the first layers agree *)
Section First.
Variables (M M' : mat) (sM : sym M != 0) (sM' : sym M' != 0).

Definition multiple (a : int) (b : nat) := (0 < b)%N /\ b%:R *: sym M' = a%:~R *: sym M.

Lemma multiple_int (a a' : int) : a' != 0 -> a%:~R *: sym M + a'%:~R *: sym M' = 0 ->
  exists c b, multiple c b.
Proof.
case: a' => k k0 /(canRL (addKr _)) E.
  by exists (- a), k; split; [rewrite lt0n|rewrite E addr0 mulrNz scaleNr].
exists a, k.+1; split=> //; move: E; rewrite NegzE mulrNz scaleNr addr0 => /oppr_inj E.
by rewrite -E.
Qed.

Lemma scale_sym (a : R) : a *: sym M = 0 -> a = 0.
Proof. by move/eqP; rewrite scaler_eq0 (negPf sM) orbF => /eqP. Qed.

(* case A: no relation *)
Lemma case_A : ~ (exists c b, multiple c b) -> forall P Q P' Q', related M M' P Q P' Q'.
Proof.
move=> no P Q P' Q' a b a' b' /relations[ea eb _].
have z (e e' : int) : e%:~R *: sym M + e'%:~R *: sym M' = 0 -> e = 0 /\ e' = 0.
  move=> E; have e0 : e' = 0 by apply/eqP/negPn/negP => /multiple_int/(_ E).
  move: E; rewrite e0 scale0r addr0 => /scale_sym/eqP; rewrite intr_eq0 => /eqP-> //.
by have [-> ->] := z _ _ ea; have [-> ->] := z _ _ eb; rewrite !expr0z !mulr1.
Qed.

Variables (c : int) (k : nat) (cb : multiple c k).

Lemma coefficient (a a' : int) : a%:~R *: sym M + a'%:~R *: sym M' = 0 -> k%:Z * a + c * a' = 0.
Proof.
case: cb => _ E /(congr1 (fun N => k%:R *: N)); rewrite scaler0 scalerDr !scalerA [k%:R * a'%:~R]mulrC.
rewrite -[X in _ + X]scalerA E scalerA -scalerDl => /scale_sym/eqP.
by rewrite [a'%:~R * _]mulrC pmulrn -!intrM -intrD intr_eq0 => /eqP.
Qed.

Lemma c_nz : c != 0.
Proof.
case: cb => k0 E; apply: contra sM' => /eqP c0; move/eqP: E.
by rewrite c0 mulr0z scale0r scaler_eq0 pnatr_eq0 eqn0Ngt k0.
Qed.

Lemma case_B1 u v : 0 < u -> 0 < v ->
  related M M' (u ^ k) (v ^ k) (u ^ c) (v ^ c).
Proof.
move=> u0 v0 a b a' b' /relations[/coefficient ea /coefficient eb _].
have un := lt0r_neq0 u0; have vn := lt0r_neq0 v0.
by rewrite !exprz_exp -mulrA mulrACA -!expfzDr // ea eb !expr0z mulr1.
Qed.

Lemma case_B2 s : k%:R *: M' != c%:~R *: M -> 0 < s -> related M M' (2%:R ^ k) 1 s (2%:R ^ c / s).
Proof.
move=> N0 s0 a b a' b' /relations[ea eb e].
have [_ E] := cb; have ea' := coefficient ea; have eb' := coefficient eb.
pose N := k%:R *: M' - c%:~R *: M.
have NT : N^T = - N.
  apply/eqP; rewrite -subr_eq0 opprK addrC; apply/eqP.
  by rewrite -/(sym N) /N symD symZ -scaleNr symZ E scaleNr subrr.
have kM : k%:R *: M' = N + c%:~R *: M by rewrite /N subrK.
have kMT : k%:R *: M'^T = - N + c%:~R *: M^T by rewrite -NT -!linearZ -linearD kM.
have ab : a' = b'.
  apply/eqP; rewrite -subr_eq0 -(@intr_eq0 R).
  have : (a' - b')%:~R *: N = 0.
    have r (x y : int) (A B : mat) : k%:Z * x + c * y = 0 ->
        k%:R *: (x%:~R *: A) + y%:~R *: (B + c%:~R *: A) = y%:~R *: B.
      move=> xy; rewrite scalerDr addrCA !scalerA -scalerDl [y%:~R * _]mulrC pmulrn -!intrM -intrD xy.
      by rewrite scale0r addr0.
    have : k%:R *: (a%:~R *: M) + a'%:~R *: (k%:R *: M') +
        (k%:R *: (b%:~R *: M^T) + b'%:~R *: (k%:R *: M'^T)) = 0.
      rewrite ![_%:~R *: (k%:R *: _)]scalerA ![_ * k%:R]mulrC -!scalerA addrACA -!scalerDr e scaler0 //.
    by rewrite kM kMT !r // scalerN -scalerBl -mulrzBr.
  by move/eqP; rewrite scaler_eq0 subr_eq0 (negPf N0) orbF.
have sn := lt0r_neq0 s0; have tn : 2%:R != 0 :> R by rewrite pnatr_eq0.
by rewrite -ab exp1rz mulr1 -mulrA -expfzMl [s * _]mulrC divfK // !exprz_exp -expfzDr // ea' expr0z.
Qed.
End First.

Lemma two_nz k : (0 < k)%N -> 2%:R ^+ k * 1 != 1 :> R.
Proof. by move=> k0; rewrite mulr1 gt_eqF // exprn_egt1 ?ltr1n // -lt0n. Qed.

Lemma onto P Q y : 0 < P -> 0 < Q -> P * Q != 1 -> exists x, S P Q x = y.
Proof. by move=> P0 Q0 PQ; apply: shift_onto; rewrite shares_nz. Qed.

Lemma first_layers L M Ms L' M' Ms' : tower_lemma -> sym M != 0 -> sym M' != 0 -> L != 0 ->
  (exists y, (net L Ms y).1 <> (net L Ms y).2) -> (exists y, (net L' Ms' y).1 <> (net L' Ms' y).2) ->
  (forall x, net L (M :: Ms) x = net L' (M' :: Ms') x) -> M = M'.
Proof.
move=> LF sM sM' L0 [y Ey] [y' Ey'] E; apply/eqP/negPn/negP => MM.
have G := LF _ _ _ _ _ _ E.
have nA : ~ (forall P Q P' Q', related M M' P Q P' Q').
  move=> A; have [||x Sx] := @onto 1 2%:R y ltr01.
  - by rewrite ltr0n.
  - by rewrite mulrC -[2%:R]expr1 two_nz.
  apply: Ey; rewrite -Sx (G 1 2%:R 1 1) ?ltr01 ?ltr0n //.
  by apply: equal_columns; apply: collapse; rewrite ?ltr01 ?mulr1.
apply: nA; apply: case_A => // -[c [k cb]]; have [k0 _] := cb.
have two k' : 0 < 2%:R ^+ k' :> R by rewrite exprn_gt0 // ltr0n.
case: (boolP (k%:R *: M' == c%:~R *: M)) => [/eqP EM|NM]; last first.
  have [x Sx] := onto y (two k) ltr01 (two_nz k0).
  have tc : 0 < 2%:R ^ c :> R by rewrite exprz_gt0 // ltr0n.
  apply: Ey; rewrite -Sx.
  have -> : net L Ms (S (2%:R ^+ k) 1 x) = net L' Ms' (x.1, x.1).
    apply: (@t2_uniq _ (fun=> net L Ms (S (2%:R ^+ k) 1 x))); first exact: t2_const.
    apply: (@t2_eq _ (fun s => net L' Ms' (S s (2%:R ^ c / s) x))) => [s s0|].
      by apply/esym/G => //; [exact: ltr01|rewrite divr_gt0|exact: case_B2].
    rewrite -shift01; apply: net_tends; apply: shift_tends (t2_const x); first exact: mu_0 tends_id.
    have f0 : tends (fun s => s / 2%:R ^ c) 0.
      by rewrite -[X in tends _ X](mul0r (2%:R ^ c)^-1); apply: tendsM tends_id (tends_const _).
    have fp (s : R) : 0 < s -> 0 < s / 2%:R ^ c by move=> s0; rewrite divr_gt0.
    by apply: tends_eq (nu_1 f0 fp) => s s0; rewrite invfM invrK [s^-1 * _]mulrC.
  by rewrite equal_tokens.
have B1 u v (u0 : 0 < u) (v0 : 0 < v) := case_B1 sM cb u0 v0.
have cn := c_nz sM' cb.
case: c cb EM B1 cn => c cb EM B1 cn; last first.
  move/eqP: L0; apply; apply: (@step4 L Ms L' Ms' k c.+1) => // u v u0 v0 x.
  by apply: G; rewrite ?invr_gt0 ?exprn_gt0 //; apply: B1.
have c0 : (0 < c)%N by rewrite lt0n.
have GB u v : 0 < u -> 0 < v -> forall x,
    net L Ms (S (u ^+ k) (v ^+ k) x) = net L' Ms' (S (u ^+ c) (v ^+ c) x).
  by move=> u0 v0 x; apply: G; rewrite ?exprn_gt0 //; apply: B1.
case: (ltngtP k c) => kc.
- by apply: Ey; apply: (@step5 L Ms L' Ms' k c) => //; rewrite k0.
- by apply: Ey'; apply: (@step5 L' Ms' L Ms c k) => [|u v u0 v0 x]; rewrite ?c0 ?GB.
case/eqP: MM; move: EM; rewrite kc => /scalerI-> //; by rewrite pnatr_eq0.
Qed.

Theorem B_after_tower_lemma (L : 'M_(d, n)) Ms L' Ms' :
  tower_lemma -> L != 0 -> (forall M, M \in Ms -> sym M != 0) -> size Ms = size Ms' ->
  (forall x, net L Ms x = net L' Ms' x) -> L = L' /\ Ms = Ms'.
Proof.
move=> LF L0; elim: Ms Ms' => [|M Ms IH] [|M' Ms'] //= sMs sz E.
  split=> //; apply/matrixP => i j; have := congr1 fst (E (delta_mx j 0, 0)).
  by rewrite /net /= -!colE => /matrixP/(_ i 0); rewrite !mxE.
have gMs N : N \in Ms -> sym N != 0 by move=> Ns; apply: sMs; rewrite inE Ns orbT.
have sM : sym M != 0 by apply: sMs; rewrite inE eqxx.
have [L0' sMs'] : L' != 0 /\ forall N, N \in M' :: Ms' -> sym N != 0.
  by apply: step0; have [x Ex] := dagger L0 sMs; exists x; rewrite -E.
have sM' : sym M' != 0 by apply: sMs'; rewrite inE eqxx.
have dMs' : exists y, (net L' Ms' y).1 <> (net L' Ms' y).2.
  by apply: dagger => // N Ns; apply: sMs'; rewrite inE Ns orbT.
have MM := first_layers LF sM sM' L0 (dagger L0 gMs) dMs' E; subst M'.
have [|//|-> ->//] := IH Ms' gMs; first by case: sz.
move=> x; apply: (@t2_uniq _ (fun s => net L Ms (S s s x))).
  rewrite -[X in t2 _ (net L Ms X)]shift00; apply: net_tends.
  by apply: shift_tends (t2_const x); [exact: mu_0 tends_id|exact: nu_0 tends_id].
apply: (@t2_eq _ (fun s => net L' Ms' (S s s x))) => [s s0|].
  have := @case_B1 M M sM 1 1%N (conj isT erefl) s s s0 s0.
  by rewrite !expr1z => B1; apply/esym/(LF _ _ _ _ _ _ E).
rewrite -[X in t2 _ (net L' Ms' X)]shift00; apply: net_tends.
by apply: shift_tends (t2_const x); [exact: mu_0 tends_id|exact: nu_0 tends_id].
Qed.

End TheoremB.
Print Assumptions B_after_tower_lemma.
