(* The Trace lemma and its Corollary, in Theorem F (beyond/docs/lightning_fibres.md), over any ordered field; the
   lemma for square matrices of any size: if S is invertible, B S + B^T S + S B = 0 only for B = 0. The Corollary: if M has
   rank 2 or more, there is an n x 2 matrix X at which the differential of X -> X X^T M X, in the direction D,
     D X^T M X + X D^T M X + X X^T M D,
   is 0 only for D = 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory. Local Open Scope ring_scope.

Section TheoremF.
Variable R : realFieldType.

Lemma trace_mul n (A B : 'M[R]_n) : \tr (A *m B) = \sum_i \sum_j A i j * B j i.
Proof. by apply: eq_bigr => i _; rewrite mxE. Qed.

Theorem trace_lemma n (S B : 'M[R]_n) : S \in unitmx -> B *m S + B^T *m S + S *m B = 0 -> B = 0.
Proof.
move=> uS E; pose P := B + B^T.
have EP : P = - (S *m B *m invmx S).
  rewrite -[LHS](mulmxK uS) mulmxDl; move/eqP: E; rewrite addr_eq0 => /eqP->.
  by rewrite mulNmx.
have T : \tr (P *m P) = \tr (B *m B).
  rewrite EP mulNmx mulmxN opprK -!mulmxA (mulKmx uS) mxtrace_mulC -!mulmxA mulVmx // mulmx1 //.
pose t i j := (B i j + B j i) ^+ 2 + (B i j ^+ 2 + B j i ^+ 2).
have Z : \sum_i \sum_j t i j = 0.
  suff -> : \sum_i \sum_j t i j = (\tr (P *m P) - \tr (B *m B)) *+ 2 by rewrite T subrr mul0rn.
  rewrite !trace_mul -sumrB -sumrMnl; apply: eq_bigr => i _; rewrite -sumrB -sumrMnl; apply: eq_bigr => j _.
  rewrite !mxE [B j i + B i j]addrC -expr2 mulrnBl mulr2n -addrA; congr (_ + _).
  by rewrite sqrrD addrAC addrK.
have pos i j : 0 <= t i j by rewrite !addr_ge0 ?sqr_ge0.
apply/matrixP => i j; rewrite mxE.
have Zi : \sum_j t i j = 0 by apply: (psumr_eq0P _ Z) => // k _; apply: sumr_ge0 => h _; apply: pos.
have /eqP : t i j = 0 by apply: (psumr_eq0P _ Zi) => // h _; apply: pos.
rewrite paddr_eq0 ?addr_ge0 ?sqr_ge0 // => /andP[_].
by rewrite paddr_eq0 ?sqr_ge0 // !sqrf_eq0 => /andP[/eqP].
Qed.

Section Corollary.
Variable n : nat.
Notation vec := 'cV[R]_n.
Definition bil (M : 'M[R]_n) (u v : vec) : R := (u^T *m M *m v) 0 0.

Lemma nz k (A : 'M[R]_(k, n)) : A != 0 -> exists v : vec, A *m v != 0.
Proof.
move=> A0; case: (pickP (fun j => A *m (delta_mx j 0 : vec) != 0)) => [j Aj|N].
  by exists (delta_mx j 0).
case/eqP: A0; apply/matrixP=> i j; have /negbT/negPn/eqP/matrixP/(_ i 0) := N j.
by rewrite -colE !mxE.
Qed.

(* no vector space is the union of two proper subspaces *)
Lemma avoid k h (A : 'M[R]_(k, n)) (B : 'M[R]_(h, n)) : A != 0 -> B != 0 ->
  exists2 v : vec, A *m v != 0 & B *m v != 0.
Proof.
move=> /nz[a Aa] /nz[b Bb].
case: (boolP (B *m a == 0)) => [/eqP Ba|]; last by exists a.
case: (boolP (A *m b == 0)) => [/eqP Ab|]; last by exists b.
by exists (a + b); rewrite mulmxDr ?Ab ?Ba ?addr0 ?add0r.
Qed.

Lemma bil_avoid (A B : 'M[R]_n) : A != 0 -> B != 0 -> exists y z, bil A y z != 0 /\ bil B y z != 0.
Proof.
move=> A0 B0; have [z Az Bz] := avoid A0 B0.
have T0 (C : 'M[R]_n) : C *m z != 0 -> (C *m z)^T != 0 by apply: contraNneq => E; rewrite -[C *m z]trmxK E trmx0.
have [y Ay By] := avoid (T0 A Az) (T0 B Bz); exists y, z.
have E (C : 'M[R]_n) : ((C *m z)^T *m y != 0) = (bil C y z != 0).
  rewrite /bil -mulmxA; congr (~~ _); apply/eqP/eqP => [/(congr1 trmx)|E0].
    by rewrite trmx_mul trmxK trmx0 => ->; rewrite mxE.
  apply: (can_inj (@trmxK _ _ _)); rewrite trmx_mul trmxK trmx0; apply/matrixP => i j.
  by rewrite !ord1 E0 mxE.
by rewrite -!E.
Qed.

Lemma bilDl M u v w : bil M (u + v) w = bil M u w + bil M v w.
Proof. by rewrite /bil [(_ + _)^T]linearD /= !mulmxDl mxE. Qed.
Lemma bilDr M u v w : bil M u (v + w) = bil M u v + bil M u w.
Proof. by rewrite /bil mulmxDr mxE. Qed.
Lemma bil_unit M i j : bil M (delta_mx i 0) (delta_mx j 0) = M i j.
Proof. by rewrite /bil trmx_delta -rowE -colE !mxE. Qed.

(* the determinant of X^T M X, where x and y are the columns of X *)
Definition gap M u v := bil M u u * bil M v v - bil M u v * bil M v u.

Lemma product_rank1 (M : 'M[R]_n) (m : R) (u : 'cV_n) (v : 'rV_n) :
  m != 0 -> m *: M = u *m v -> (\rank M <= 1)%N.
Proof.
by move=> m0 E; rewrite -(eqmx_scale M m0) E mulmx_max_rank.
Qed.

Lemma open_at (M : 'M[R]_n) : (1 < \rank M)%N -> exists x y, gap M x y != 0.
Proof.
move=> rM; pose e (ij : 'I_n * 'I_n) : vec := delta_mx ij.1 0 + delta_mx ij.2 0.
case: (pickP (fun ij => bil M (e ij) (e ij) != 0)).
- move=> ij; move: (e ij) => x; move Em: (bil M x x) => m m0.
  have n0 (u : 'cV_n) (v : 'rV_n) : m *: M - u *m v != 0.
    by rewrite subr_eq0; apply/eqP => /(product_rank1 m0); rewrite leqNgt rM.
  have [y [z [b1 b2]]] := bil_avoid (n0 (M *m x) (x^T *m M)) (n0 (x^T *m M)^T (M *m x)^T).
  case: (boolP (gap M x y == 0)) => [/eqP g1|]; last by exists x, y.
  case: (boolP (gap M x z == 0)) => [/eqP g2|]; last by exists x, z.
  case: (boolP (gap M x (y + z) == 0)) => [/eqP g3|]; last by exists x, (y + z).
  case: (boolP (gap M y z == 0)) => [/eqP g4|]; last by exists y, z.
  have E1 : bil (m *: M - (M *m x) *m (x^T *m M)) y z = m * bil M y z - bil M y x * bil M x z.
    rewrite /bil !mulmxBr !mulmxBl [LHS]mxE [X in _ + X]mxE -scalemxAr -scalemxAl mxE; congr (_ - _).
    by rewrite !mulmxA -(mulmxA (y^T *m M *m x)) -(mulmxA (y^T *m M *m x)) mxE big_ord1.
  have E2 : bil (m *: M - (x^T *m M)^T *m (M *m x)^T) y z = m * bil M y z - bil M x y * bil M z x.
    rewrite /bil !mulmxBr !mulmxBl [LHS]mxE [X in _ + X]mxE -scalemxAr -scalemxAl mxE; congr (_ - _).
    rewrite mulmxA -(mulmxA _ (M *m x)^T) mxE big_ord1; congr (_ * _).
      by rewrite -trmx_mul mxE.
    by rewrite -[z in LHS]trmxK -trmx_mul mxE mulmxA.
  have e1 : m * bil M y y = bil M x y * bil M y x by move/eqP: g1; rewrite subr_eq0 Em => /eqP.
  have e2 : m * bil M z z = bil M x z * bil M z x by move/eqP: g2; rewrite subr_eq0 Em => /eqP.
  have e4 : bil M y y * bil M z z = bil M y z * bil M z y by move/eqP: g4; rewrite subr_eq0 => /eqP.
  have four : bil M y x * bil M x z + bil M x y * bil M z x = m * bil M y z + m * bil M z y.
    move/eqP: g3; rewrite /gap subr_eq0 Em !(bilDl, bilDr) !(mulrDl, mulrDr) => /eqP; rewrite e1 e2.
    by rewrite -!addrA => /addrI; rewrite !addrA => /addIr->; rewrite addrC [bil M y x * _]mulrC.
  have prod : bil M y x * bil M x z * (bil M x y * bil M z x) = m * bil M y z * (m * bil M z y).
    by rewrite [RHS]mulrACA -e4 [RHS]mulrACA e1 e2 [LHS]mulrACA [bil M y x * _]mulrC.
  move: b1 b2 four prod; rewrite E1 E2.
  move: (bil M y x * _) (bil M x y * _) (m * bil M z y) (m * _) => p q v u b1 b2 four prod.
  have L (a b c : R) : a - (a + b - c) = c - b by rewrite opprB addrCA opprD [a + _]addrA subrr add0r.
  have Eq : q = u + v - p by rewrite -four addrAC subrr add0r.
  move: (mulf_neq0 b1 b2); rewrite {1}Eq L mulrBl !mulrBr -prod Eq mulrBr mulrDr [u * p]mulrC L subrr.
  by rewrite eqxx.
move=> N; have Z u v : bil M (delta_mx u 0 + delta_mx v 0) (delta_mx u 0 + delta_mx v 0) = 0.
  by have /negbT/negPn/eqP := N (u, v).
have D i : M i i = 0.
  have := Z i i; rewrite !(bilDl, bilDr) !bil_unit -!mulr2n -mulrnA => /eqP.
  by rewrite -mulr_natr mulf_eq0 pnatr_eq0 orbF => /eqP.
case: (pickP (fun ij => M ij.1 ij.2 != 0)) => [[i j] /= Mij|M0]; last first.
  move: rM; rewrite (_ : M = 0) ?mxrank0 //; apply/matrixP => i j; rewrite mxE.
  by have /negbT/negPn/eqP := M0 (i, j).
exists (delta_mx i 0), (delta_mx j 0); rewrite /gap !bil_unit D mul0r sub0r oppr_eq0 mulf_neq0 //.
move: (Z i j); rewrite !(bilDl, bilDr) !bil_unit !D add0r addr0 addrC => /eqP; rewrite addr_eq0 => /eqP->.
by rewrite oppr_eq0.
Qed.

(* the matrix with the columns x and y *)
Definition two (x y : vec) : 'M[R]_(n, 2) := \matrix_(i, j) (if j == 0 then x i 0 else y i 0).

Lemma det2 (A : 'M[R]_2) : \det A = A 0 0 * A 1 1 - A 0 1 * A 1 0.
Proof.
rewrite (expand_det_row _ 0) !big_ord_recl big_ord0 addr0 /cofactor !det_mx11 !mxE /=.
rewrite expr0 expr1 mul1r mulN1r mulrN.
by congr (_ * A _ _ - A _ _ * A _ _); apply: val_inj.
Qed.

Lemma two_bil M x y : \det ((two x y)^T *m M *m two x y) = gap M x y.
Proof.
have E i j : ((two x y)^T *m M *m two x y) i j = bil M (if i == 0 then x else y) (if j == 0 then x else y).
  rewrite /bil mxE [RHS]mxE; apply: eq_bigr => k _; rewrite !mxE; congr (_ * _); last by case: ifP.
  by apply: eq_bigr => h _; rewrite !mxE; case: ifP.
by rewrite det2 !E.
Qed.

Theorem trace_corollary (M : 'M[R]_n) : (1 < \rank M)%N -> exists X : 'M[R]_(n, 2),
  forall D : 'M[R]_(n, 2), D *m X^T *m M *m X + X *m D^T *m M *m X + X *m X^T *m M *m D = 0 -> D = 0.
Proof.
case/open_at => x [y g]; exists (two x y); move: (two x y) (two_bil M x y) => X dX D E.
set S := X^T *m M *m X in dX.
have uS : S \in unitmx by rewrite unitmxE dX unitfE.
pose B := - (D^T *m M *m X + X^T *m M *m D) *m invmx S.
have DX : D = X *m B.
  rewrite /B mulNmx mulmxN mulmxA mulmxDr !mulmxA; apply: (can_inj (mulmxK uS)).
  rewrite mulNmx mulmxKV // /S !mulmxA; apply/eqP; rewrite -subr_eq0 opprK addrA; exact/eqP.
suff B0 : B = 0 by rewrite DX B0 mulmx0.
apply: (trace_lemma uS).
have : X *m (B *m S + B^T *m S + S *m B) = 0.
  by move: E; rewrite DX trmx_mul /S !mulmxDr !mulmxA.
move/(congr1 (mulmx (X^T *m M))); rewrite mulmxA mulmx0 -/S => /(congr1 (mulmx (invmx S))).
by rewrite mulKmx // mulmx0.
Qed.
End Corollary.
End TheoremF.
Print Assumptions trace_lemma.
Print Assumptions trace_corollary.
