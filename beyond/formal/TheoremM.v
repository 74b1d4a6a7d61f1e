(* Theorem M, one lightning layer with few heads, Step 1: at certain weights, and on polynomial curves through them at
   all points but finitely many, the kernel of the derivative among all directions, whatever they do to the ranks, is
   exactly the H^2-dimensional space ( * ) of heads that blend (beyond/docs/lightning_heads.md). At other weights it can
   be larger.
   Over any field, for two tokens or more, with a causal mask or without. A layer of H heads from width d to d' is
     X -> sum_h V_h X [X^T A_h X],
   where [.] is the matrix itself or, with a mask, its upper triangle.
   M_derivative: `derivative` is its derivative in the direction (dV, dA): the part that is linear in e if (V, A) moves to
   (V + e dV, A + e dA).
   M_blends: at all weights, each H x H matrix g gives a direction in the kernel, which is linear in g,
     ( * )   dA_h = sum_k g_hk A_k,   dV_k = - sum_h g_hk V_h.
   M_kernel: let A_h = u_h k_h^T and V_h = o_h w_h^T with independent k_h, independent o_h, no u_h = 0, and no w_j a
   multiple of a u_h. Then a direction is in the kernel exactly if it is ( * ) of one and only one g.
   M_special: there are such weights for all d >= 2 and H <= min(d, d').
   M_generic: let the weights be polynomials in e that are such weights at e = 0. Then for all e but the roots of one
   polynomial, which is not 0, a direction is in the kernel exactly if it is ( * ) of one and only one g. Here 2 is not 0
   in the field.
   Not here: d = 1; the step from these curves to the generic weights of a family, and with it Theorem M for heads and
   values of full rank, whose layer has H^2 silent directions among all H (d^2 + d d'); Step 2, which of the directions
   ( * ) are tangent to a family of given ranks, and so the dimension for heads and values of lower rank.
   The step to generic weights, by hand, over an infinite field: the line from the weights of M_kernel to any others is
   such a curve. For some e on it the blends and the system of equations below have the ranks that are wanted. That a
   rank is at least r is an open condition, so both hold at generic weights. In an irreducible family that contains the
   weights of M_kernel both hold at these, and so at its generic weights. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory. Local Open Scope ring_scope.

Section TheoremM.
Variables (F : fieldType) (d d' H n : nat) (causal : bool).
Notation vec := 'cV[F]_d.
Notation tokens := 'M[F]_(d, n.+2).
Notation matrices_A := ('I_H -> 'M[F]_d).
Notation matrices_V := ('I_H -> 'M[F]_(d', d)).

(* what the mask leaves of the logits: token c attends to the tokens j <= c *)
Definition seen (S : 'M[F]_n.+2) : 'M[F]_n.+2 :=
  \matrix_(j, c) (if causal && (c < j)%N then 0 else S j c).

Definition layer (V : matrices_V) (A : matrices_A) (X : tokens) : 'M[F]_(d', n.+2) :=
  \sum_h V h *m X *m seen (X^T *m A h *m X).

(* its derivative at (V, A) in the direction (dV, dA) *)
Definition derivative (V : matrices_V) (A : matrices_A) (dV : matrices_V) (dA : matrices_A) (X : tokens) :=
  \sum_h (dV h *m X *m seen (X^T *m A h *m X) + V h *m X *m seen (X^T *m dA h *m X)).

Definition kernel V A dV dA := forall X, derivative V A dV dA X = 0.

(* the direction ( * ) of an H x H matrix g *)
Definition blend (V : matrices_V) (A : matrices_A) (g : 'M[F]_H) (dV : matrices_V) (dA : matrices_A) :=
  (forall h, dA h = \sum_k g h k *: A k) /\ (forall k, dV k = - \sum_h g h k *: V h).

Lemma seenD S T : seen (S + T) = seen S + seen T.
Proof. by apply/matrixP => j c; rewrite !mxE; case: ifP; rewrite ?addr0. Qed.
Lemma seenZ a S : seen (a *: S) = a *: seen S.
Proof. by apply/matrixP => j c; rewrite !mxE; case: ifP; rewrite ?mulr0. Qed.
Lemma seen0 : seen 0 = 0.
Proof. by apply/matrixP => j c; rewrite !mxE if_same. Qed.

(* what one pair of matrices contributes; it is linear in each of them *)
Definition term (v : 'M[F]_(d', d)) (a : 'M[F]_d) (X : tokens) := v *m X *m seen (X^T *m a *m X).
Lemma termDl v v' a X : term (v + v') a X = term v a X + term v' a X.
Proof. by rewrite /term !mulmxDl. Qed.
Lemma termZl e v a X : term (e *: v) a X = e *: term v a X.
Proof. by rewrite /term -!scalemxAl. Qed.
Lemma termDr v a a' X : term v (a + a') X = term v a X + term v a' X.
Proof. by rewrite /term mulmxDr mulmxDl seenD mulmxDr. Qed.
Lemma termZr e v a X : term v (e *: a) X = e *: term v a X.
Proof. by rewrite /term -scalemxAr -scalemxAl seenZ -scalemxAr. Qed.
Lemma term_suml (v : matrices_V) a X : term (\sum_h v h) a X = \sum_h term (v h) a X.
Proof. by elim/big_rec2: _ => [|h x y _ <-]; [rewrite /term !mul0mx|rewrite termDl]. Qed.
Lemma term_sumr v (a : matrices_A) X : term v (\sum_h a h) X = \sum_h term v (a h) X.
Proof.
elim/big_rec2: _ => [|h x y _ <-]; last by rewrite termDr.
by rewrite /term mulmx0 mul0mx seen0 mulmx0.
Qed.

Theorem M_derivative (V dV : matrices_V) (A dA : matrices_A) (e : F) (X : tokens) :
  layer (fun h => V h + e *: dV h) (fun h => A h + e *: dA h) X =
  layer V A X + e *: derivative V A dV dA X + e ^+ 2 *: layer dV dA X.
Proof.
rewrite /layer /derivative !scaler_sumr -!big_split; apply: eq_bigr => h _ /=.
rewrite -[LHS]/(term _ _ _) !(termDl, termDr, termZl, termZr) /term.
by rewrite !scalerDr scalerA -expr2 -!addrA; congr (_ + _); rewrite addrCA.
Qed.

Theorem M_blends V A g dV dA : blend V A g dV dA -> kernel V A dV dA.
Proof.
case=> EA EV X; rewrite /derivative big_split /=.
rewrite [X in _ + X](_ : _ = \sum_h \sum_k g h k *: term (V h) (A k) X); last first.
  apply: eq_bigr => h _; rewrite -/(term _ _ _) EA term_sumr.
  by apply: eq_bigr => k _; rewrite termZr.
rewrite [X in X + _](_ : _ = - \sum_k \sum_h g h k *: term (V h) (A k) X); last first.
  rewrite -sumrN; apply: eq_bigr => k _; rewrite -/(term _ _ _) EV -scaleN1r termZl scaleN1r.
  by rewrite term_suml; congr (- _); apply: eq_bigr => h _; rewrite termZl.
by rewrite exchange_big addNr.
Qed.

Definition dot (u y : vec) : F := (u^T *m y) 0 0.
Lemma dotD u y z : dot u (y + z) = dot u y + dot u z.
Proof. by rewrite /dot mulmxDr mxE. Qed.
Lemma dotZ a u y : dot (a *: u) y = a * dot u y.
Proof. by rewrite /dot [(_ *: _)^T]linearZ -scalemxAl mxE. Qed.
Lemma dotC u y : dot u y = dot y u.
Proof. by rewrite /dot -[in LHS](trmxK y) -trmx_mul mxE. Qed.
Lemma dotE m (x : 'M[F]_(m, 1)) u y : x *m (u^T *m y) = dot u y *: x.
Proof. by rewrite [u^T *m y]mx11_scalar mul_mx_scalar. Qed.

Lemma dot_unit (u w : vec) j : dot w (col j (cokermx u^T)) = (w^T *m cokermx u^T) 0 j.
Proof. by rewrite /dot colE mulmxA -colE mxE. Qed.

(* a vector is a multiple of u if it is orthogonal to what u is orthogonal to, which the columns of cokermx u^T span *)
Lemma multiple (u b : vec) : (forall j, dot b (col j (cokermx u^T)) = 0) -> exists g, b = g *: u.
Proof.
move=> Z; have : (b^T <= u^T)%MS.
  by rewrite submxE; apply/eqP/matrixP => i j; rewrite ord1 -dot_unit Z mxE.
case/submxP => c E; exists (c 0 0); apply: (can_inj (@trmxK _ _ _)).
by rewrite E [c in LHS]mx11_scalar mul_scalar_mx linearZ.
Qed.

(* if the product of two linear forms b and w vanishes where u does, and w is no multiple of u, then b is one *)
Lemma divides (u b w : vec) : (forall a, w != a *: u) ->
  (forall y, dot u y = 0 -> dot b y * dot w y = 0) -> exists g, b = g *: u.
Proof.
move=> nw Z; have u0 j : dot u (col j (cokermx u^T)) = 0 by rewrite dot_unit mulmx_coker mxE.
case: (pickP (fun j => dot w (col j (cokermx u^T)) != 0)) => [i wi|W]; last first.
  have [j|a E] := @multiple u w; first by have /negbT/negPn/eqP := W j.
  by have := nw a; rewrite E eqxx.
have bi : dot b (col i (cokermx u^T)) = 0.
  by have /eqP := Z _ (u0 i); rewrite mulf_eq0 (negPf wi) orbF => /eqP.
apply: multiple => j; apply/eqP/negPn/negP => bj.
have wj : dot w (col j (cokermx u^T)) = 0.
  by have /eqP := Z _ (u0 j); rewrite mulf_eq0 (negPf bj) => /eqP.
have := Z (col j (cokermx u^T) + col i (cokermx u^T)); rewrite !dotD !u0 bi wj !add0r addr0 => /(_ erefl)/eqP.
by rewrite mulf_eq0 (negPf bj) (negPf wi).
Qed.

Lemma dot_neq0 u : u != 0 -> exists y, dot u y != 0.
Proof.
move=> u0; case: (pickP (fun j => dot u (delta_mx j 0) != 0)) => [j uj|N]; first by exists (delta_mx j 0).
case/eqP: u0; apply/matrixP => i j; have /negbT/negPn/eqP := N i.
by rewrite [j]ord1 /dot -colE !mxE => ->.
Qed.

(* if the product of a linear form and a matrix vanishes everywhere, then one of them is 0 *)
Lemma cancel m (u : vec) (B : 'M[F]_(m, d)) : u != 0 -> (forall y, dot u y *: (B *m y) = 0) -> B = 0.
Proof.
case/dot_neq0 => y0 u0 Z.
have B0 : B *m y0 = 0 by apply/eqP; have /eqP := Z y0; rewrite scaler_eq0 (negPf u0).
have By (y : vec) : B *m y = 0.
  apply/eqP; case: (boolP (dot u y == 0)) => [/eqP uy|uy]; last first.
    by have /eqP := Z y; rewrite scaler_eq0 (negPf uy).
  have /eqP := Z (y + y0); rewrite dotD uy add0r mulmxDr B0 addr0.
  by rewrite scaler_eq0 (negPf u0).
by apply/matrixP => i j; have /matrixP/(_ i 0) := By (delta_mx j 0); rewrite -colE !mxE.
Qed.

(* the tokens (y, z, 0, ..., 0): the second output is sum_h V_h y (y^T A_h z) + V_h z (z^T A_h z), mask or not *)
Definition two (y z : vec) : tokens := y *m delta_mx 0 0 + z *m delta_mx 0 1.
Lemma two_col y z : col 0 (two y z) = y /\ col 1 (two y z) = z.
Proof.
have one : delta_mx 0 0 = 1%:M :> 'M[F]_1 by apply/matrixP => i j; rewrite !ord1 !mxE.
rewrite /two !colE !mulmxDl -!mulmxA !mul_delta_mx_cond /= one.
by rewrite !mulr1n !mulr0n !mulmx0 !mulmx1 ?addr0 ?add0r.
Qed.
Lemma term_two v a y z : col 1 (term v a (two y z)) = v *m y *m (y^T *m a *m z) + v *m z *m (z^T *m a *m z).
Proof.
have EX (c : 'cV[F]_n.+2) : two y z *m c = y *m row 0 c + z *m row 1 c.
  by rewrite mulmxDl -!mulmxA -!rowE.
move: (two y z) (two_col y z) EX => X [c0 c1] EX.
have E (i : 'I_n.+2) : (i <= 1)%N -> row i (col 1 (seen (X^T *m a *m X))) = (col i X)^T *m a *m z.
  move=> i1; rewrite -[in RHS]c1 tr_col -!row_mul [in RHS]colE mulmxA -colE.
  by apply/matrixP => p q; rewrite 3![LHS]mxE ltnNge i1 andbF 2![RHS]mxE.
by rewrite /term colE -!mulmxA -colE EX !mulmxA !E // c0 c1 mulmxDr !mulmxA.
Qed.

(* what the kernel says: an identity of matrices whose entries are quadratic forms in one token y *)
Lemma table V A dV dA : kernel V A dV dA ->
  forall y : vec, \sum_h (dV h *m y *m (y^T *m A h) + V h *m y *m (y^T *m dA h)) = 0.
Proof.
move=> K y; apply/matrixP => i j; rewrite [RHS]mxE.
pose z : vec := delta_mx j 0.
have E (y' : vec) : \sum_h (dV h *m y' *m (y'^T *m A h *m z) + V h *m y' *m (y'^T *m dA h *m z)) +
    \sum_h (dV h *m z *m (z^T *m A h *m z) + V h *m z *m (z^T *m dA h *m z)) = 0.
  have : col 1 (derivative V A dV dA (two y' z)) = 0 by rewrite K col0.
  rewrite /derivative colE mulmx_suml => K0; rewrite -[RHS]K0 -big_split; apply: eq_bigr => h _ /=.
  have Tt (v : 'M[F]_(d', d)) (a : 'M[F]_d) : v *m two y' z *m seen ((two y' z)^T *m a *m two y' z) *m delta_mx 1 0 =
      v *m y' *m (y'^T *m a *m z) + v *m z *m (z^T *m a *m z) by rewrite -term_two colE.
  by rewrite mulmxDl !Tt addrACA.
have E0 := E 0; rewrite [X in X + _]big1 ?add0r in E0 => [|h _]; last by rewrite !mulmx0 !mul0mx addr0.
have := E y; rewrite E0 addr0 => Ey; set S := \sum_h _.
have Sz : S *m z = 0 by rewrite mulmx_suml -[RHS]Ey; apply: eq_bigr => h _; rewrite mulmxDl !mulmxA.
transitivity ((S *m z) i 0); last by rewrite Sz mxE.
by rewrite -colE mxE.
Qed.

Lemma row_col_mul m p q (B : 'M[F]_(m, p)) (C : 'M[F]_(p, q)) j h : row j B *m col h C = ((B *m C) j h)%:M.
Proof. by rewrite [LHS]mx11_scalar !mxE; congr _%:M; apply: eq_bigr => k _; rewrite !mxE. Qed.

(* Step 1 of the proof: A_h = u_h k_h^T and V_h = o_h w_h^T; the k_h are the rows of K, the o_h the columns of O *)
Definition special (V : matrices_V) (A : matrices_A) :=
  exists (u w : 'I_H -> vec) (K : 'M[F]_(H, d)) (O : 'M[F]_(d', H)),
  [/\ row_free K, row_free O^T, forall h, u h != 0, forall j h a, w j != a *: u h &
      forall h, A h = u h *m row h K /\ V h = col h O *m (w h)^T].

Lemma special_blend V A dV dA : special V A ->
  (forall y : vec, \sum_h (dV h *m y *m (y^T *m A h) + V h *m y *m (y^T *m dA h)) = 0) -> exists g, blend V A g dV dA.
Proof.
case=> u [w [K [O [/row_freeP[D KD] /row_freeP[E' OE] u0 wu AV]]]] T.
pose E := E'^T; have EO : E *m O = 1%:M by rewrite -[O]trmxK -trmx_mul OE trmx1.
have Vy h (y : vec) : V h *m y = dot (w h) y *: col h O.
  by have [_ ->] := AV h; rewrite -mulmxA dotE.
have Eo j h : row j E *m col h O = (j == h)%:R%:M by rewrite row_col_mul EO mxE.
have kD j h : row j K *m col h D = (j == h)%:R%:M by rewrite row_col_mul KD mxE.
(* multiply by a vector that is dual to the k_h *)
pose b j h := dA j *m col h D.
have T1 h (y : vec) : dot (u h) y *: (dV h *m y) + \sum_j dot (b j h) y *: (V j *m y) = 0.
  have := congr1 (mulmx^~ (col h D)) (T y); rewrite mul0mx mulmx_suml => Th; rewrite -[RHS]Th.
  transitivity (\sum_j ((j == h)%:R *: (dot (u j) y *: (dV j *m y)) + dot (b j h) y *: (V j *m y))).
    rewrite big_split /=; congr (_ + _); rewrite (bigD1 h) //= eqxx scale1r big1 ?addr0 // => j /negPf jh.
    by rewrite jh scale0r.
  apply: eq_bigr => j _; have [-> _] := AV j; rewrite mulmxDl; congr (_ + _).
    by rewrite -!mulmxA kD mul_mx_scalar -!scalemxAr dotE dotC -scalemxAr.
  by rewrite -!mulmxA dotE -scalemxAr dotC.
have /fin_all_exists[g Eg] (jh : 'I_H * 'I_H) : exists g, b jh.1 jh.2 = g *: u jh.2.
  case: jh => j h; apply: (divides (w := w j)) => // y uy.
  have := congr1 (mulmx (row j E)) (T1 h y); rewrite uy scale0r add0r mulmx0 mulmx_sumr.
  rewrite (bigD1 j) //= big1 => [|i /negPf ij]; last first.
    by rewrite Vy -!scalemxAr Eo eq_sym ij -scalemx1 scale0r !scaler0.
  by rewrite addr0 Vy -!scalemxAr Eo eqxx => /matrixP/(_ 0 0); rewrite !mxE eqxx mulr1n mulr1.
pose G : 'M[F]_H := \matrix_(j, h) g (j, h).
have bE j h : b j h = G j h *: u h by rewrite mxE (Eg (j, h)).
have EV h : dV h = - \sum_j G j h *: V j.
  apply/eqP; rewrite -addr_eq0; apply/eqP/(cancel (u0 h)) => y.
  rewrite mulmxDl scalerDr -[RHS](T1 h y); congr (_ + _); rewrite mulmx_suml scaler_sumr.
  by apply: eq_bigr => j _; rewrite bE dotZ -scalemxAl scalerA [dot _ _ * _]mulrC.
exists G; split=> // j; pose R j := dA j - \sum_h G j h *: A h.
have T2 (y : vec) : \sum_i V i *m y *m (y^T *m R i) = 0.
  rewrite -[RHS](T y) big_split /= [X in _ = X + _](_ : _ = - \sum_i \sum_h G i h *: (V i *m y *m (y^T *m A h))).
    rewrite addrC -sumrB; apply: eq_bigr => i _; rewrite !mulmxBr; congr (_ - _).
    by rewrite !mulmx_sumr; apply: eq_bigr => h _; rewrite -!scalemxAr.
  rewrite exchange_big -sumrN; apply: eq_bigr => h _; rewrite EV !mulNmx !mulmx_suml; congr (- _).
  by apply: eq_bigr => i _; rewrite -!scalemxAl.
have w0 : w j != 0 by have := wu j j 0; rewrite scale0r.
apply/eqP; rewrite -subr_eq0 -/(R j) -trmx_eq0; apply/eqP/(cancel w0) => y.
have := congr1 (mulmx (row j E)) (T2 y); rewrite mulmx0 mulmx_sumr (bigD1 j) //= big1 => [|i /negPf ij].
  rewrite addr0 mulmxA Vy -scalemxAr Eo eqxx scalemx1 mul_scalar_mx => /(congr1 trmx).
  by rewrite trmx0 linearZ /= trmx_mul trmxK.
by rewrite mulmxA Vy -scalemxAr Eo eq_sym ij -scalemx1 scale0r scaler0 mul0mx.
Qed.

Lemma special_free V A (g g' : 'M[F]_H) : special V A ->
  (forall h, \sum_k g h k *: A k = \sum_k g' h k *: A k) -> g = g'.
Proof.
case=> u [w [K [O [/row_freeP[D KD] _ u0 _ AV]]]] E; apply/matrixP => h k.
have AD i : A i *m col k D = (i == k)%:R *: u i.
  by have [-> _] := AV i; rewrite -mulmxA row_col_mul KD mxE mul_mx_scalar.
have C (f : 'M[F]_H) : (\sum_i f h i *: A i) *m col k D = f h k *: u k.
  rewrite mulmx_suml (bigD1 k) //= -scalemxAl AD eqxx scale1r big1 ?addr0 // => i /negPf ik.
  by rewrite -scalemxAl AD ik scale0r scaler0.
have /eqP := congr1 (mulmx^~ (col k D)) (E h); rewrite !C -subr_eq0 -scalerBl scaler_eq0 (negPf (u0 k)) orbF.
by rewrite subr_eq0 => /eqP.
Qed.

Theorem M_kernel (V dV : matrices_V) (A dA : matrices_A) : special V A ->
  kernel V A dV dA <-> exists! g, blend V A g dV dA.
Proof.
move=> sp; split=> [/table/(special_blend sp)[g Bg]|[g [/M_blends]]] //; exists g; split=> // g' [Eg' _].
by apply: (special_free sp) => h; rewrite -Eg'; case: Bg => <-.
Qed.

Theorem M_special : (1 < d)%N -> (H <= d)%N -> (H <= d')%N -> exists V A, special V A.
Proof.
move=> d1 Hd Hd'; pose i0 := Ordinal (ltnW d1); pose i1 := Ordinal d1.
pose K : 'M[F]_(H, d) := pid_mx H; pose O : 'M[F]_(d', H) := pid_mx H.
exists (fun h => col h O *m (delta_mx i1 0 : vec)^T), (fun h => (delta_mx i0 0 : vec) *m row h K).
exists (fun _ => delta_mx i0 0), (fun _ => delta_mx i1 0), K, O; split=> //.
- by rewrite /row_free rank_pid_mx.
- by rewrite /row_free mxrank_tr rank_pid_mx.
- by move=> _; apply/eqP => /matrixP/(_ i0 0)/eqP; rewrite !mxE !eqxx oner_eq0.
move=> _ _ a; apply/eqP => /matrixP/(_ i1 0)/eqP; rewrite !mxE !eqxx /= mulr0; exact/negP/oner_neq0.
Qed.

(* Generic weights. M at e, for a matrix M of polynomials; its rank is no smaller than at 0, but for the roots of a
   polynomial *)
Definition at_ (e : F) m k (M : 'M[{poly F}]_(m, k)) : 'M[F]_(m, k) := map_mx (horner_eval e) M.

Lemma rank_open m k (M : 'M[{poly F}]_(m, k)) r : (r <= \rank (at_ 0 M))%N ->
  exists2 p : {poly F}, p != 0 & forall e, p.[e] != 0 -> (r <= \rank (at_ e M))%N.
Proof.
move=> rM; pose L : 'M[F]_(r, m) := pid_mx r *m invmx (col_ebase (at_ 0 M)).
pose R : 'M[F]_(k, r) := invmx (row_ebase (at_ 0 M)) *m pid_mx r.
pose p := \det (map_mx polyC L *m M *m map_mx polyC R).
have pe e : p.[e] = \det (L *m at_ e M *m R).
  have C a b (N : 'M[F]_(a, b)) : map_mx (horner_eval e) (map_mx polyC N) = N.
    by apply/matrixP => i j; rewrite !mxE /= /horner_eval hornerC.
  by rewrite -/(horner_eval e p) -det_map_mx !map_mxM !C.
have p0 : p.[0] = 1.
  rewrite pe -[at_ 0 M]mulmx_ebase /L /R -!mulmxA (mulKmx (col_ebase_unit _)) (mulKVmx (row_ebase_unit _)).
  rewrite !mul_pid_mx (minn_idPr rM) (minn_idPr (leq_trans rM (rank_leq_col _))) minnn.
  by rewrite (minn_idPr (leq_trans rM (rank_leq_row _))) pid_mx_1 det1.
exists p => [|e]; first by apply/eqP => E; have /eqP := p0; rewrite E horner0 eq_sym oner_eq0.
rewrite pe => u; have : L *m at_ e M *m R \in unitmx by rewrite unitmxE unitfE.
move/mxrank_unit => {1}<-; exact: leq_trans (mxrankM_maxl _ _) (mxrankM_maxr _ _).
Qed.

(* The kernel as the solutions of finitely many linear equations, and the blends, over any commutative ring. *)
Notation places := (('I_H * 'I_d' * 'I_d) + ('I_H * 'I_d * 'I_d))%type.
Notation N := #|{: places}|.
Notation equations := ('I_d * 'I_d * 'I_d' * 'I_d)%type.
Section Ring.
Variable R : comRingType.
Implicit Types (V dV : 'I_H -> 'M[R]_(d', d)) (A dA : 'I_H -> 'M[R]_d).

(* a direction, written in one row *)
Definition part_V (x : 'rV[R]_N) h : 'M[R]_(d', d) := \matrix_(i, j) x 0 (enum_rank (inl (h, i, j) : places)).
Definition part_A (x : 'rV[R]_N) h : 'M[R]_d := \matrix_(i, j) x 0 (enum_rank (inr (h, i, j) : places)).

Definition polar V A dV dA (y z : 'cV[R]_d) : 'M[R]_(d', d) :=
  \sum_h (dV h *m y *m (z^T *m A h) + V h *m y *m (z^T *m dA h)).
Definition equation V A dV dA a b : 'M[R]_(d', d) :=
  polar V A dV dA (delta_mx a 0) (delta_mx b 0) + polar V A dV dA (delta_mx b 0) (delta_mx a 0).
Definition system V A : 'M[R]_(N, #|{: equations}|) := \matrix_(i, k)
  let: (a, b, r, c) := enum_val k in equation V A (part_V (delta_mx 0 i)) (part_A (delta_mx 0 i)) a b r c.

Lemma equationD V A x y a b : equation V A (part_V (x + y)) (part_A (x + y)) a b =
  equation V A (part_V x) (part_A x) a b + equation V A (part_V y) (part_A y) a b.
Proof.
have pV h : part_V (x + y) h = part_V x h + part_V y h by apply/matrixP => i j; rewrite !mxE.
have pA h : part_A (x + y) h = part_A x h + part_A y h by apply/matrixP => i j; rewrite !mxE.
have D u v : polar V A (part_V (x + y)) (part_A (x + y)) u v =
    polar V A (part_V x) (part_A x) u v + polar V A (part_V y) (part_A y) u v.
  by rewrite /polar -big_split; apply: eq_bigr => h _; rewrite pV pA !(mulmxDl, mulmxDr) addrACA.
by rewrite /equation !D addrACA.
Qed.
Lemma equationZ V A t x a b : equation V A (part_V (t *: x)) (part_A (t *: x)) a b =
  t *: equation V A (part_V x) (part_A x) a b.
Proof.
have pV h : part_V (t *: x) h = t *: part_V x h by apply/matrixP => i j; rewrite !mxE.
have pA h : part_A (t *: x) h = t *: part_A x h by apply/matrixP => i j; rewrite !mxE.
have Z u v : polar V A (part_V (t *: x)) (part_A (t *: x)) u v = t *: polar V A (part_V x) (part_A x) u v.
  by rewrite /polar scaler_sumr; apply: eq_bigr => h _; rewrite pV pA -!(scalemxAl, scalemxAr) scalerDr.
by rewrite /equation !Z scalerDr.
Qed.

Lemma systemE V A x a b r c :
  (x *m system V A) 0 (enum_rank ((a, b, r, c) : equations)) = equation V A (part_V x) (part_A x) a b r c.
Proof.
pose f y := equation V A (part_V y) (part_A y) a b.
have f0 : f 0 = 0 by rewrite -(scale0r 0) /f equationZ scale0r.
have fD : {morph f : y z / y + z} by move=> y z; apply: equationD.
rewrite -/(f x) [in RHS](row_sum_delta x) (big_morph f fD f0).
rewrite mxE summxE; apply: eq_bigr => i _; rewrite /f equationZ [RHS]mxE; congr (_ * _).
by rewrite mxE enum_rankK.
Qed.

(* the blends of all g, one of them in each row *)
Definition blends V A : 'M[R]_(#|{: 'I_H * 'I_H}|, N) := \matrix_(p, i)
  match enum_val i with
  | inl (k, r, c) => - ((enum_val p).2 == k)%:R * V (enum_val p).1 r c
  | inr (h, r, c) => ((enum_val p).1 == h)%:R * A (enum_val p).2 r c
  end.

Lemma sum_pairs (f : 'I_H * 'I_H -> R) :
  \sum_(p < #|{: 'I_H * 'I_H}|) f (enum_val p) = \sum_h \sum_k f (h, k).
Proof.
rewrite pair_bigA (reindex _ (onW_bij _ (@enum_val_bij _))) /=.
by apply: eq_bigr => p _; rewrite -surjective_pairing.
Qed.

Definition of_row (y : 'rV[R]_#|{: 'I_H * 'I_H}|) : 'M[R]_H := \matrix_(h, k) y 0 (enum_rank (h, k)).
Lemma blendsE V A y : let g := of_row y in
  (forall h, part_A (y *m blends V A) h = \sum_k g h k *: A k) /\
  (forall k, part_V (y *m blends V A) k = - \sum_h g h k *: V h).
Proof.
split=> [h|k]; apply/matrixP => r c.
  rewrite !mxE summxE.
  pose f (q : 'I_H * 'I_H) := y 0 (enum_rank q) * ((q.1 == h)%:R * A q.2 r c).
  transitivity (\sum_(p < #|{: 'I_H * 'I_H}|) f (enum_val p)).
    by apply: eq_bigr => p _; rewrite mxE /f enum_valK enum_rankK.
  rewrite (sum_pairs f) /f /= (bigD1 h) //= [X in _ + X]big1 ?addr0 => [|i /negPf ih]; last first.
    by apply: big1 => k _; rewrite ih mul0r mulr0.
  by apply: eq_bigr => k _; rewrite eqxx mul1r !mxE.
rewrite !mxE summxE -sumrN.
pose f (q : 'I_H * 'I_H) := y 0 (enum_rank q) * (- (q.2 == k)%:R * V q.1 r c).
transitivity (\sum_(p < #|{: 'I_H * 'I_H}|) f (enum_val p)).
  by apply: eq_bigr => p _; rewrite mxE /f enum_valK enum_rankK.
rewrite (sum_pairs f) /f /=; apply: eq_bigr => h _; rewrite (bigD1 k) //= big1 ?addr0 => [|i /negPf ik]; last first.
  by rewrite ik oppr0 mul0r mulr0.
by rewrite eqxx mulN1r mulrN !mxE.
Qed.
End Ring.

(* all of this commutes with putting a number for the variable *)
Section At.
Variables (e : F) (pV : 'I_H -> 'M[{poly F}]_(d', d)) (pA : 'I_H -> 'M[{poly F}]_d).
Let V h := at_ e (pV h).
Let A h := at_ e (pA h).

Lemma at_blends : at_ e (blends pV pA) = blends V A.
Proof.
apply/matrixP => p i; rewrite !mxE; case: (enum_val i) => [[[k r] c]|[[h r] c]];
  by rewrite rmorphM ?rmorphN rmorph_nat !mxE.
Qed.

Lemma at_system : at_ e (system pV pA) = system V A.
Proof.
apply/matrixP => i k; rewrite !mxE; case: (enum_val k) => [[[a b] r] c].
have mV h : part_V (delta_mx 0 i) h = at_ e (part_V (delta_mx 0 i) h).
  by apply/matrixP => p q; rewrite !mxE rmorph_nat.
have mA h : part_A (delta_mx 0 i) h = at_ e (part_A (delta_mx 0 i) h).
  by apply/matrixP => p q; rewrite !mxE rmorph_nat.
have mu (a' : 'I_d) : delta_mx a' 0 = at_ e (delta_mx a' 0) :> 'cV_d by rewrite /at_ map_delta_mx.
have P (a' b' : 'I_d) :
    at_ e (polar pV pA (part_V (delta_mx 0 i)) (part_A (delta_mx 0 i)) (delta_mx a' 0) (delta_mx b' 0)) =
    polar V A (part_V (delta_mx 0 i)) (part_A (delta_mx 0 i)) (delta_mx a' 0) (delta_mx b' 0).
  rewrite /at_ /polar map_mx_sum; apply: eq_bigr => h _.
  by rewrite map_mxD !map_mxM -!map_trmx !map_delta_mx mV mA.
have Q : at_ e (equation pV pA (part_V (delta_mx 0 i)) (part_A (delta_mx 0 i)) a b) =
    equation V A (part_V (delta_mx 0 i)) (part_A (delta_mx 0 i)) a b.
  by rewrite /equation -!P /at_ map_mxD.
by rewrite -Q [RHS]mxE.
Qed.
End At.

Lemma part_inj (x y : 'rV[F]_N) :
  (forall h, part_V x h = part_V y h) -> (forall h, part_A x h = part_A y h) -> x = y.
Proof.
move=> EV EA; apply/rowP => i; rewrite -[i]enum_valK; case: (enum_val i) => [[[h r] c]|[[h r] c]].
  by have /matrixP/(_ r c) := EV h; rewrite !mxE.
by have /matrixP/(_ r c) := EA h; rewrite !mxE.
Qed.

Definition one_row (dV : matrices_V) (dA : matrices_A) : 'rV[F]_N := \row_i
  match enum_val i with inl (h, r, c) => dV h r c | inr (h, r, c) => dA h r c end.
Lemma part_one_row dV dA h : part_V (one_row dV dA) h = dV h /\ part_A (one_row dV dA) h = dA h.
Proof. by split; apply/matrixP => r c; rewrite !mxE enum_rankK. Qed.

Definition row_of (g : 'M[F]_H) : 'rV[F]_#|{: 'I_H * 'I_H}| := \row_p g (enum_val p).1 (enum_val p).2.
Lemma of_rowK y : row_of (of_row y) = y.
Proof. by apply/rowP => p; rewrite !mxE -surjective_pairing enum_valK. Qed.
Lemma row_ofK g : of_row (row_of g) = g.
Proof. by apply/matrixP => h k; rewrite !mxE enum_rankK. Qed.

Section Solutions.
Variables (V : matrices_V) (A : matrices_A).

Lemma blend_row g dV dA : blend V A g dV dA <-> one_row dV dA = row_of g *m blends V A.
Proof.
have [BA BV] := blendsE V A (row_of g); rewrite row_ofK in BA BV; split=> [[gA gV]|E].
  by apply: part_inj => h; have [pV pA] := part_one_row dV dA h; rewrite ?pV ?pA ?BV ?BA.
by split=> h; have [pV pA] := part_one_row dV dA h; [rewrite -pA E BA|rewrite -pV E BV].
Qed.

Lemma free_blends : special V A -> row_free (blends V A).
Proof.
move=> sp; rewrite -kermx_eq0; apply/rowV0P => y /sub_kermxP E.
have [BA _] := blendsE V A y; suff of0 : of_row y = 0.
  by rewrite -[y]of_rowK of0; apply/rowP => p; rewrite !mxE.
apply: (special_free sp) => h; rewrite -BA E [RHS]big1 => [|k _]; last by rewrite mxE scale0r.
by apply/matrixP => r c; rewrite !mxE.
Qed.

(* `table` says polar y y = 0 for all y *)
Section Polar.
Variables (dV : matrices_V) (dA : matrices_A).
Notation P := (polar V A dV dA).
Lemma polarDl (y z w : vec) : P (y + z) w = P y w + P z w.
Proof. by rewrite /polar -big_split; apply: eq_bigr => h _; rewrite !(mulmxDl, mulmxDr) addrACA. Qed.
Lemma polarDr (y z w : vec) : P y (z + w) = P y z + P y w.
Proof.
by rewrite /polar -big_split; apply: eq_bigr => h _; rewrite [(z + w)^T]linearD !(mulmxDl, mulmxDr) addrACA.
Qed.
Lemma polarZl t (y w : vec) : P (t *: y) w = t *: P y w.
Proof. by rewrite /polar scaler_sumr; apply: eq_bigr => h _; rewrite -!(scalemxAl, scalemxAr) scalerDr. Qed.
Lemma polarZr t (y w : vec) : P y (t *: w) = t *: P y w.
Proof.
by rewrite /polar scaler_sumr; apply: eq_bigr => h _; rewrite [(t *: w)^T]linearZ -!(scalemxAl, scalemxAr) scalerDr.
Qed.
Lemma polarD (u v : vec) : P (u + v) (u + v) = P u u + P v v + (P u v + P v u).
Proof. by rewrite polarDl !polarDr [X in _ + X = _]addrC addrACA. Qed.
Lemma polar_sum (y : vec) : P y y = \sum_a \sum_b (y a 0 * y b 0) *: P (delta_mx a 0) (delta_mx b 0).
Proof.
have Ey : y = \sum_a y a 0 *: delta_mx a 0.
  by rewrite {1}[y]matrix_sum_delta; apply: eq_bigr => a _; rewrite big_ord1.
have L0 w : P 0 w = 0 by rewrite -(scale0r 0) polarZl scale0r.
have R0 w : P w 0 = 0 by rewrite -(scale0r 0) polarZr scale0r.
have Dl w : {morph P^~ w : u v / u + v} by move=> u v; apply: polarDl.
have Dr w : {morph P w : u v / u + v} by move=> u v; apply: polarDr.
rewrite {1}Ey (big_morph _ (Dl y) (L0 y)); apply: eq_bigr => a _; rewrite {2}Ey (big_morph _ (Dr _) (R0 _)).
by apply: eq_bigr => b _; rewrite polarZl polarZr scalerA.
Qed.
End Polar.

(* the kernel solves the system, and where 2 is not 0 the system is as good as `table` *)
Lemma kernel_system x : kernel V A (part_V x) (part_A x) -> x *m system V A = 0.
Proof.
move/table=> T; apply/rowP => k; rewrite [RHS]mxE -[k]enum_valK; case: (enum_val k) => [[[a b] r] c].
rewrite systemE; suff -> : equation V A (part_V x) (part_A x) a b = 0 by rewrite mxE.
have D : polar V A (part_V x) (part_A x) _ _ = 0 := T _.
by have := polarD (part_V x) (part_A x) (delta_mx a 0) (delta_mx b 0); rewrite !D !add0r.
Qed.

Lemma system_blend x : 2%:R != 0 :> F -> special V A -> x *m system V A = 0 ->
  exists g, blend V A g (part_V x) (part_A x).
Proof.
move=> two0 sp Z; apply: special_blend => // y.
have E a b : equation V A (part_V x) (part_A x) a b = 0.
  by apply/matrixP => r c; rewrite -systemE Z !mxE.
pose P := polar V A (part_V x) (part_A x).
suff : 2%:R *: P y y = 0 by move/eqP; rewrite scaler_eq0 (negPf two0) => /eqP.
rewrite scaler_nat mulr2n {1}/P polar_sum exchange_big /P polar_sum -big_split big1 // => a _.
rewrite -big_split big1 // => b _ /=; rewrite [y b 0 * _]mulrC -scalerDr addrC.
by have := E a b; rewrite /equation => ->; rewrite scaler0.
Qed.
End Solutions.

(* the weights at e, where all of them are polynomials in e *)
Definition weights_at (e : F) m k (W : 'I_H -> 'M[{poly F}]_(m, k)) h : 'M[F]_(m, k) := at_ e (W h).

Theorem M_generic (pV : 'I_H -> 'M[{poly F}]_(d', d)) (pA : 'I_H -> 'M[{poly F}]_d) :
  2%:R != 0 :> F -> special (weights_at 0 pV) (weights_at 0 pA) ->
  exists2 p : {poly F}, p != 0 & forall e, p.[e] != 0 ->
    let V := weights_at e pV in let A := weights_at e pA in
    forall (dV : matrices_V) (dA : matrices_A), kernel V A dV dA <-> exists! g, blend V A g dV dA.
Proof.
move=> two0 sp; pose B := blends pV pA; pose S := system pV pA.
have freeB : row_free (at_ 0 B) by rewrite at_blends free_blends.
have [p p0 rp] := @rank_open _ _ B _ (eq_leq (esym (eqP freeB))).
have kerS : (\rank (kermx (at_ 0 S)) <= #|{: 'I_H * 'I_H}|)%N.
  rewrite at_system; apply: leq_trans (mxrankS _) (rank_leq_row (blends (weights_at 0 pV) (weights_at 0 pA))).
  apply/rV_subP => x /sub_kermxP /(system_blend two0 sp)[g /blend_row].
  rewrite (_ : one_row _ _ = x); last by apply: part_inj => h; have [] := part_one_row (part_V x) (part_A x) h.
  by move=> ->; apply: submxMl.
have rS : (N - #|{: 'I_H * 'I_H}| <= \rank (at_ 0 S))%N.
  by move: kerS; rewrite mxrank_ker leq_subLR addnC -leq_subLR.
have [q q0 rq] := @rank_open _ _ S _ rS.
exists (p * q); first by rewrite mulf_neq0.
move=> e; rewrite hornerM mulf_eq0 negb_or => /andP[/rp rB /rq rK] V A dV dA.
rewrite at_blends in rB; rewrite at_system in rK.
have free : row_free (blends V A) by rewrite /row_free eqn_leq rank_leq_row.
have BK : (blends V A <= kermx (system V A))%MS.
  apply/rV_subP => x /submxP[y ->]; apply/sub_kermxP/kernel_system.
  have [BA BV] := blendsE V A y; exact: (M_blends (conj BA BV)).
have KB : (kermx (system V A) <= blends V A)%MS.
  have [_ <-] := mxrank_leqif_sup BK; rewrite eqn_leq mxrankS //= (eqP free) mxrank_ker.
  by rewrite leq_subLR addnC -leq_subLR.
split=> [k|[g [/M_blends]]] //; have : one_row dV dA *m system V A = 0.
  apply: kernel_system => X; rewrite -[RHS](k X); apply: eq_bigr => h _.
  by have [-> ->] := part_one_row dV dA h.
move/sub_kermxP => xK; have /submxP[y Ey] := submx_trans xK KB.
exists (of_row y); split=> [|g /blend_row]; first by apply/blend_row; rewrite of_rowK.
by rewrite Ey => /(row_free_inj free) ->; rewrite row_ofK.
Qed.
End TheoremM.
Print Assumptions M_derivative.
Print Assumptions M_blends.
Print Assumptions M_kernel.
Print Assumptions M_special.
Print Assumptions M_generic.
