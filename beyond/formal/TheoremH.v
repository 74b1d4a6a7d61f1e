(* Theorem H (beyond/docs/softmax_heads_fibres.md), for every depth: "Which is which" for three tokens or more and
   for two causal ones, and "The weights". Layers are counted from 0; w and w' are theta and theta'. `tokens` is the freed
   network on two tokens, with shares mu_ih and nu_ih for each head. All theorems but the converse assume of
   Condition 2 that the F_i are invertible, and that the freed networks agree, R_theta = R_theta', for all tokens
   and all shares that "Poles" and "Layers" allow.
   H_columns: each share of theta' is one of theta of the same column or 1 - one of the other column, as the list
   in "Poles" has it for m >= 2; then, if no V_ih is 0, the former holds for all.
   H_causal_signs: mu = 0, and nu'_{i pi_i(h)} is 1 - nu_ih for the heads h in sets J_i and nu_ih for the others,
   as q'_{i pi_i(h)} = -q_ih and q_ih give it for two tokens; then by Condition 4 all J_i are empty.
   H_the_weights: mu = 0 (these shares the network without a mask has as well), nu'_{i pi_i(h)} = nu_ih and
   q'_{i pi_i(h)} = q_ih; then theta' is in the orbit of theta.
   H_converse is about the layers themselves, on t tokens. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory. Local Open Scope ring_scope.

Section TheoremH.
Variables (F : fieldType) (d l : nat) (H : nat -> nat) (skip : bool).
Notation vec := 'cV[F]_d.
Notation mat := 'M[F]_d.
Definition shares := forall i, 'I_(H i) -> F.

Record weights := Weights {
  A : forall i, 'I_(H i) -> mat; c : forall i, 'I_(H i) -> vec;
  V : forall i, 'I_(H i) -> mat; om : nat -> vec }.

(* F_i = [I +] sum_h V_ih *)
Definition Fm (w : weights) i : mat := (if skip then 1%:M else 0) + \sum_h V w (i := i) h.

(* layer i on two tokens *)
Definition step w i (mu nu : 'I_(H i) -> F) (z : vec * vec) : vec * vec :=
  let delta := z.1 - z.2 in
  (Fm w i *m z.1 + om w i - \sum_h mu h *: (V w h *m delta),
   Fm w i *m z.2 + om w i + \sum_h nu h *: (V w h *m delta)).

(* the tokens after k layers *)
Fixpoint tokens w (mu nu : shares) k z :=
  if k is i.+1 then step w (mu i) (nu i) (tokens w mu nu i z) else z.

Definition q w i (h : 'I_(H i)) (z : vec * vec) : F :=
  ((z.1 - z.2)^T *m (A w h *m z.2 + c w h)) 0 0.

Definition none : shares := fun _ _ => 0.

Lemma mulmx_inj m (A B : 'M[F]_(m, d)) : (forall v : vec, A *m v = B *m v) -> A = B.
Proof.
move=> E; apply/matrixP=> i j.
by have /matrixP/(_ i 0) := E (delta_mx j 0); rewrite -!colE !mxE.
Qed.

Lemma dot_inj (u v : vec) : (forall w : vec, (w^T *m u) 0 0 = (w^T *m v) 0 0) -> u = v.
Proof.
move=> E; apply/matrixP=> i j; rewrite ord1.
by have := E (delta_mx i 0); rewrite trmx_delta -!rowE !mxE.
Qed.

Lemma affD k (B : mat) (u v a : 'M_(d, k)) : B *m (u + v) + a = B *m u + (B *m v + a).
Proof. by rewrite mulmxDr addrA. Qed.

Lemma affB (B : mat) (u v a : vec) : B *m u + a - (B *m v + a) = B *m (u - v).
Proof. by rewrite opprD addrACA subrr addr0 -mulmxBr. Qed.

(* k frozen layers are the affine map z -> C_k z + b_k *)
Fixpoint C w k : mat := if k is i.+1 then Fm w i *m C w i else 1%:M.
Lemma CS w i : C w i.+1 = Fm w i *m C w i. Proof. by []. Qed.
Fixpoint b w k : vec := if k is i.+1 then Fm w i *m b w i + om w i else 0.

Lemma frozen w i (mu nu : 'I_(H i) -> F) z : (forall h, mu h = 0) -> (forall h, nu h = 0) ->
  step w (i := i) mu nu z = (Fm w i *m z.1 + om w i, Fm w i *m z.2 + om w i).
Proof.
move=> m0 n0; rewrite /step !big1 ?subr0 ?addr0 // => h _; [by rewrite n0 scale0r|by rewrite m0 scale0r].
Qed.

Lemma tokensS w (mu nu : shares) i z :
  tokens w mu nu i.+1 z = step w (mu i) (nu i) (tokens w mu nu i z).
Proof. by []. Qed.

Lemma tokens_frozen w (mu nu : shares) k z :
  (forall i h, (i < k)%N -> mu i h = 0) -> (forall i h, (i < k)%N -> nu i h = 0) ->
  tokens w mu nu k z = (C w k *m z.1 + b w k, C w k *m z.2 + b w k).
Proof.
elim: k => [|k IH] m0 n0 /=; first by rewrite !mul1mx !addr0; case: z.
rewrite IH => [|i h ik|i h ik]; try by [apply: m0; apply: ltnW|apply: n0; apply: ltnW].
by rewrite frozen => [|h|h]; rewrite ?m0 ?n0 // /= !mulmxDr !mulmxA !addrA.
Qed.

Lemma C_unit w k : (forall i, (i < k)%N -> Fm w i \in unitmx) -> C w k \in unitmx.
Proof.
elim: k => [|k IH] u /=; first exact: unitmx1.
by rewrite unitmx_mul u //= IH // => i ik; apply: u; apply: ltnW.
Qed.

Lemma C_unit_inv w k : C w k \in unitmx -> forall i, (i <= k)%N -> C w i \in unitmx.
Proof.
elim: k => [|k IH] /= u i; first by rewrite leqn0 => /eqP->.
rewrite leq_eqVlt => /orP[/eqP->//|]; rewrite ltnS; apply: IH.
by move: u; rewrite unitmx_mul => /andP[].
Qed.

(* one head of one layer at nu = 1, all else frozen *)
Definition one i (h : 'I_(H i)) : shares := fun j k => ((j == i) && (k == h :> nat))%:R.

Lemma one_off i (h : 'I_(H i)) j (k : 'I_(H j)) : j != i -> one h k = 0.
Proof. by rewrite /one => /negPf->. Qed.

Lemma tokens_one w i (h : 'I_(H i)) n z : (i < n)%N -> C w n \in unitmx ->
  (tokens w none (one h) n z).2 =
  C w n *m z.2 + b w n + C w n *m (invmx (C w i.+1) *m (V w h *m (C w i *m (z.1 - z.2)))).
Proof.
move=> /subnKC <-; move: (n - i.+1)%N => {n} k.
elim: k => [|k IH] u.
  rewrite addn0 /= in u *; rewrite tokens_frozen => [|//|j g ji]; last first.
    by rewrite one_off // neq_ltn ji.
  rewrite /step /= (bigD1 h) //= big1 => [|g gh]; last first.
    by rewrite /one (inj_eq val_inj) (negPf gh) andbF scale0r.
  by rewrite /one !eqxx scale1r addr0 mulKVmx // affB mulmxDr mulmxA addrA.
have ni : (i.+1 + k)%N != i by rewrite neq_ltn addSn ltnS leq_addr orbT.
rewrite addnS in u *; move: (i.+1 + k)%N u IH ni => n u IH ni.
have u' : C w n \in unitmx by move: u; rewrite unitmx_mul => /andP[].
rewrite tokensS frozen => [|//|g]; last by rewrite one_off.
by rewrite /= IH //; move: (z.1 - z.2) => v; rewrite !mulmxDr !mulmxA !addrA [LHS]addrAC.
Qed.


(* theta' is theta with heads permuted by pi, bases changed by G and shifts g; with skip G = 1 *)
Definition in_orbit (w w' : weights) (pi : forall i, 'S_(H i)) (G : nat -> mat) (g : nat -> vec) :=
  [/\ G 0%N = 1%:M /\ g 0%N = 0, G l = 1%:M /\ g l = 0, forall i, (i <= l)%N -> G i \in unitmx,
      skip -> forall i, (i <= l)%N -> G i = 1%:M &
      forall i, (i < l)%N ->
        (forall z, Fm w' i *m (G i *m z + g i) + om w' i = G i.+1 *m (Fm w i *m z + om w i) + g i.+1) /\
        forall h, [/\ V w' (pi i h) = G i.+1 *m V w h *m invmx (G i),
                      A w h = (G i)^T *m A w' (pi i h) *m G i &
                      c w h = (G i)^T *m (A w' (pi i h) *m g i + c w' (pi i h))]].

Theorem H_the_weights (w w' : weights) (pi : forall i, 'S_(H i)) :
  (forall i, (i < l)%N -> Fm w i \in unitmx) ->
  (forall (nu nu' : shares) z, (forall i h, nu' i (pi i h) = nu i h) ->
     tokens w' none nu' l z = tokens w none nu l z /\
     forall i (h : 'I_(H i)), (i < l)%N ->
       q w' (pi i h) (tokens w' none nu' i z) = q w h (tokens w none nu i z)) ->
  exists G g, in_orbit w w' pi G g /\
    ((forall i, (i < l)%N -> om w i = 0 /\ om w' i = 0) -> forall i, (i <= l)%N -> g i = 0).
Proof.
move=> u K.
have K0 z : tokens w' none none l z = tokens w none none l z /\
     forall i (h : 'I_(H i)), (i < l)%N ->
       q w' (pi i h) (tokens w' none none i z) = q w h (tokens w none none i z) by apply: K.
have tf v k z : tokens v none none k z = (C v k *m z.1 + b v k, C v k *m z.2 + b v k).
  by apply: tokens_frozen.
have uC i : (i <= l)%N -> C w i \in unitmx.
  by move=> il; apply: C_unit => j ji; apply: u; apply: leq_trans ji il.
have bl : b w' l = b w l.
  by have [] := K0 (0, 0); rewrite !tf /= !mulmx0 !add0r => -[].
have Cl : C w' l = C w l.
  by apply: mulmx_inj => v; have [] := K0 (v, 0); rewrite !tf /= bl => -[] /addIr.
have uC' i : (i <= l)%N -> C w' i \in unitmx by apply: C_unit_inv; rewrite Cl uC.
have [G GC] : exists G : nat -> mat, forall i, (i <= l)%N -> G i *m C w i = C w' i.
  by exists (fun i => C w' i *m invmx (C w i)) => i il; rewrite mulmxKV ?uC.
have [g Gb] : exists g : nat -> vec, forall i, G i *m b w i + g i = b w' i.
  by exists (fun i => b w' i - G i *m b w i) => i; rewrite addrC subrK.
have uG i : (i <= l)%N -> G i \in unitmx.
  by move=> il; have := uC' i il; rewrite -GC // unitmx_mul => /andP[].
have G0 : G 0%N = 1%:M by rewrite -[LHS]mulmx1 GC.
have Gl : G l = 1%:M by rewrite -[LHS](mulmxK (uC l (leqnn l))) GC // Cl mulmxV // uC.
have FG i : (i < l)%N -> Fm w' i *m G i = G i.+1 *m Fm w i.
  move=> il; apply: (can_inj (mulmxK (uC i (ltnW il)))).
  by rewrite -[LHS]mulmxA GC ?(ltnW il) // -[RHS]mulmxA -!CS (GC i.+1 il).
have Fg i z : (i < l)%N ->
    Fm w' i *m (G i *m z + g i) + om w' i = G i.+1 *m (Fm w i *m z + om w i) + g i.+1.
  move=> il; have := Gb i.+1; rewrite /= -(Gb i) => E.
  have -> : z = (z - b w i) + b w i by rewrite subrK.
  by rewrite (affD (G i)) (affD (Fm w' i)) (affD (Fm w i)) (affD (G i.+1)) E !mulmxA FG.
have VG i (h : 'I_(H i)) : (i < l)%N -> V w' (pi i h) *m G i = G i.+1 *m V w h.
  move=> il; apply: (can_inj (mulmxK (uC i (ltnW il)))); apply: mulmx_inj => v.
  have on : forall j k, one (pi i h) (pi j k) = one h k.
    rewrite /one => j k; case: eqP => //= ji; move: k; rewrite ji => k.
    by rewrite !(inj_eq val_inj) (inj_eq perm_inj).
  have [E _] := K (one h) (one (pi i h)) (v, 0) on.
  move/(congr1 snd): E; rewrite (tokens_one h _ il (uC l (leqnn l))).
  rewrite (tokens_one (pi i h) _ il (uC' l (leqnn l))) Cl bl !subr0.
  move=> /addrI /(can_inj (mulKmx (uC l (leqnn l)))).
  move=> /(canRL (mulKVmx (uC' _ il))) E; rewrite -(mulmxA _ (G i)) (GC i (ltnW il)) -[LHS]mulmxA E.
  by rewrite -(GC _ il) -[LHS]mulmxA (mulKVmx (uC _ il)) !mulmxA.
exists G, g; split; last first.
  move=> nob i il.
  have b0 v : (forall j, (j < i)%N -> om v j = 0) -> b v i = 0.
    elim: i {il} => [//|i IH] /= o; rewrite IH ?o ?mulmx0 ?addr0 // => j ji; apply: o; exact: ltnW.
  by have := Gb i; rewrite !b0 ?mulmx0 ?add0r // => j ji; have [] := nob j (leq_trans ji il).
split=> //.
- by have := Gb 0%N; rewrite /= mulmx0 add0r.
- by split=> //; have := Gb l; rewrite bl Gl mul1mx => /(canRL (addKr _)); rewrite addNr.
- move=> sk; elim=> [//|i IH] il.
  have := FG i il; rewrite /Fm sk mulmxDl mulmxDr mul1mx mulmx1 IH ?(ltnW il) // mulmx1.
  have -> : \sum_h V w' (i := i) h = G i.+1 *m \sum_h V w (i := i) h.
    rewrite (reindex_inj (@perm_inj _ (pi i))) mulmx_sumr; apply: eq_bigr => h _.
    by rewrite -VG // IH ?(ltnW il) // mulmx1.
  by move=> /addIr.
move=> i il; split; first by move=> z; apply: Fg.
move=> h.
have VE : V w' (pi i h) = G i.+1 *m V w h *m invmx (G i).
  by rewrite -VG // mulmxK // uG // ltnW.
have AE z : A w h *m z + c w h = (G i)^T *m (A w' (pi i h) *m (G i *m z + g i) + c w' (pi i h)).
  apply: dot_inj => v.
  pose y := invmx (C w i) *m (z - b w i); pose y1 := invmx (C w i) *m v + y.
  have [_ /(_ i h il)] := K0 (y1, y).
  rewrite /q !tf /=.
  have -> : C w' i *m y1 + b w' i - (C w' i *m y + b w' i) = G i *m v.
    by rewrite affB /y1 addrK -GC ?(ltnW il) // -mulmxA mulKVmx // uC // ltnW.
  have -> : C w i *m y1 + b w i - (C w i *m y + b w i) = v.
    by rewrite affB /y1 addrK mulKVmx // uC // ltnW.
  have Ey : C w i *m y + b w i = z by rewrite mulKVmx ?uC ?(ltnW il) // subrK.
  have -> : C w' i *m y + b w' i = G i *m z + g i.
    by rewrite -Ey mulmxDr mulmxA GC ?(ltnW il) // -addrA Gb.
  by rewrite Ey trmx_mul -mulmxA => ->.
have cE : c w h = (G i)^T *m (A w' (pi i h) *m g i + c w' (pi i h)).
  by have := AE 0; rewrite !mulmx0 !add0r.
split=> //; apply: mulmx_inj => z; have := AE z.
by rewrite affD mulmxDr -cE => /addIr; rewrite !mulmxA.
Qed.

(* "Which is which" for three tokens or more: each share of one network is a share of the other one of the same
   column, or 1 - a share of the other column; and the latter does not occur. *)
Section Columns.
Variables (w w' : weights) (sigma : forall i, {perm bool * 'I_(H i)}).

(* mu_ih = s i (false, h), nu_ih = s i (true, h) *)
Definition all_shares := forall i, bool * 'I_(H i) -> F.
Definition run v (s : all_shares) := tokens v (fun i h => s i (false, h)) (fun i h => s i (true, h)).
Definition column (b : bool) (z : vec * vec) := if b then z.2 else z.1.

Lemma runS v s i z :
  run v s i.+1 z = step v (fun h => s i (false, h)) (fun h => s i (true, h)) (run v s i z).
Proof. by []. Qed.

Lemma column_step v s i z b : column b (run v s i.+1 z) = Fm v i *m column b (run v s i z) + om v i +
  (if b then 1 else -1) *: \sum_h s i (b, h) *: (V v h *m ((run v s i z).1 - (run v s i z).2)).
Proof. by rewrite runS; case: b; rewrite /step /= ?scale1r ?scaleN1r. Qed.

(* frozen layers act on each column alike, whatever the shares before them *)
Lemma frozen_from v k n : (k <= n)%N -> exists Q r, Q *m C v k = C v n /\
  forall s z b, (forall j x, (k <= j < n)%N -> s j x = 0) ->
    column b (run v s n z) = Q *m column b (run v s k z) + r.
Proof.
move/subnKC=> <-; elim: (n - k)%N => [|m [Q [r [QC E]]]].
  by exists 1%:M, 0; split=> [|s z b _]; rewrite addn0 mul1mx ?addr0.
exists (Fm v (k + m)%N *m Q), (Fm v (k + m)%N *m r + om v (k + m)%N); rewrite addnS; split.
  by rewrite -mulmxA QC.
move=> s z b s0; rewrite column_step E => [|j x /andP[kj jm]]; last first.
  by rewrite s0 // kj ltnS ltnW.
rewrite big1 => [|h _]; last by rewrite s0 ?leq_addr /= ?ltnS // scale0r.
by rewrite scaler0 addr0 affD mulmxA.
Qed.

Lemma run_eq v (s s' : all_shares) k z :
  (forall j x, (j < k)%N -> s j x = s' j x) -> run v s k z = run v s' k z.
Proof.
elim: k => [//|k IH] E; rewrite !runS IH => [|j x jk]; last by rewrite E // ltnW.
by rewrite /step; congr (_ - _, _ + _); apply: eq_bigr => h _; rewrite E.
Qed.

Theorem H_columns :
  (forall i, (i < l)%N -> Fm w i \in unitmx) -> (forall i (h : 'I_(H i)), (i < l)%N -> V w h != 0) ->
  (forall (s s' : all_shares) z,
     (forall i x, s' i (sigma i x) = if (sigma i x).1 == x.1 then s i x else 1 - s i x) ->
     run w' s' l z = run w s l z) ->
  forall i x, (i < l)%N -> (sigma i x).1 = x.1.
Proof.
move=> u V0 K i; move: {2}(l - i)%N (leqnn (l - i)) => n; elim: n i => [|n IH] i.
  by rewrite leqn0 subn_eq0 leqNgt => /negPf->.
move=> ni [b h] il; apply/eqP/negPn/negP => /= bad.
have later j x : (i < j < l)%N -> (sigma j x).1 = x.1.
  case/andP=> ij jl; apply: IH => //; rewrite -ltnS; apply: leq_trans ni.
  by rewrite ltn_sub2l // (leq_trans _ jl).
pose s (on : bool) : all_shares := fun j x => [&& on, j == i, x.1 == b & x.2 == h :> nat]%:R.
pose s' on : all_shares := fun j y =>
  let x := (sigma j)^-1%g y in if y.1 == x.1 then s on j x else 1 - s on j x.
have E on z : run w' (s' on) l z = run w (s on) l z by apply: K => j x; rewrite /s' permK.
have s0 on j x : j != i -> s on j x = 0 by rewrite /s => /negPf->; rewrite andbF.
have s0' on j y : (i < j < l)%N -> s' on j y = 0.
  case/andP=> ij jl; rewrite /s'; set x := (sigma j)^-1%g y.
  by rewrite -[y](permKV (sigma j)) -/x later ?ij // eqxx s0 // neq_ltn ij orbT.
have same' z : column b (run w' (s' true) l z) = column b (run w' (s' false) l z).
  have [Q [r [_ F']]] := frozen_from w' il; rewrite (F' _ z b (s0' true)) (F' _ z b (s0' false)).
  have R : run w' (s' true) i z = run w' (s' false) i z.
    by apply: run_eq => j y ji; rewrite /s' !s0 // neq_ltn ji.
  rewrite !column_step R; congr (_ *m (_ + _ *: _) + _); apply: eq_bigr => k _; congr (_ *: _).
  rewrite /s'; set x := (sigma i)^-1%g _; suff -> : s true i x = s false i x by [].
  rewrite /s eqxx /=; case: eqP => //= xb; case: eqP => //= xh; case/eqP: bad.
  rewrite (_ : (b, h) = x) ?permKV // [x]surjective_pairing; congr (_, _) => //; exact: val_inj.
have [Q [r [QC F']]] := frozen_from w il.
have uCl : C w l \in unitmx by apply: C_unit.
have uQ : Q \in unitmx by move: uCl; rewrite -QC unitmx_mul => /andP[].
case/eqP: (V0 i h il); apply: (can_inj (mulKmx uQ)).
apply: (can_inj (mulmxK (C_unit_inv uCl (ltnW il)))).
rewrite mulmx0 mul0mx; apply: mulmx_inj => v; rewrite mul0mx.
have := same' (v, 0); rewrite !E !F' => [|j x /andP[ij _]|j x /andP[ij _]];
  try by rewrite s0 // neq_ltn ij orbT.
have R : run w (s true) i (v, 0) = run w (s false) i (v, 0).
  by apply: run_eq => j x ji; rewrite !s0 // neq_ltn ji.
move=> /addIr/(can_inj (mulKmx uQ)); rewrite !column_step R => /addrI.
rewrite [X in _ = _ *: X]big1 => [|k _]; last by rewrite /s /= scale0r.
rewrite scaler0 (bigD1 h) //= big1 => [|k kh]; last first.
  by rewrite /s /= (inj_eq val_inj) (negPf kh) !andbF scale0r.
rewrite addr0 /s !eqxx scale1r /run tokens_frozen // opprD addrACA subrr addr0 mulmx0 subr0 => /eqP.
by rewrite scaler_eq0; case: (b); rewrite ?oppr_eq0 oner_eq0 /= => /eqP E0; rewrite -!mulmxA E0 mulmx0.
Qed.
End Columns.

(* "Which is which" for two causal tokens: the logits agree up to signs, - where J, and a share nu becomes
   1 - nu there. *)
Section Signs.
Variables (w w' : weights) (pi : forall i, 'S_(H i)) (J : forall i, 'I_(H i) -> bool).

(* the product of the I + V_(i, I_i) of the first k layers *)
Fixpoint product (I : forall i, 'I_(H i) -> bool) k : mat :=
  if k is i.+1 then (1%:M + \sum_(h | I i h) V w h) *m product I i else 1%:M.
Definition condition_4 :=
  if skip then forall I, product I l = 1%:M -> forall i (h : 'I_(H i)), (i < l)%N -> I i h = false
  else forall i (I : 'I_(H i) -> bool), (i < l)%N -> \sum_(h | I h) V w h = 0 -> forall h, I h = false.

(* what a layer does to the difference of the tokens, and k layers *)
Definition Phi v i (nu : 'I_(H i) -> F) : mat := Fm v i - \sum_h nu h *: V v h.
Fixpoint diff v (nu : shares) k : mat := if k is i.+1 then Phi v (nu i) *m diff v nu i else 1%:M.

Lemma tokens_diff v nu k z :
  (tokens v none nu k z).1 - (tokens v none nu k z).2 = diff v nu k *m (z.1 - z.2).
Proof.
elim: k => [|k IH]; first by rewrite mul1mx.
rewrite tokensS /step /= [X in _ - X - _]big1 => [|h _]; last by rewrite scale0r.
rewrite -mulmxA -IH subr0 opprD addrA affB mulmxBl; congr (_ - _).
by rewrite mulmx_suml; apply: eq_bigr => h _; rewrite -scalemxAl.
Qed.

(* shares that differ in layer i only *)
Lemma diff_one v (a : shares) i n : (i < n)%N -> exists Q : mat, forall b : shares,
  (forall j h, j != i -> b j h = a j h) -> diff v b n = Q *m (Phi v (b i) *m diff v a i).
Proof.
have E b k : (k <= i)%N -> (forall j h, j != i -> b j h = a j h) -> diff v b k = diff v a k.
  elim: k => [//|k IH] ki off; rewrite /= IH ?(ltnW ki) //; congr (_ *m _); congr (_ - _).
  by apply: eq_bigr => h _; rewrite off // neq_ltn ki.
move/subnKC=> <-; elim: (n - i.+1)%N => [|k [Q IH]].
  by exists 1%:M => b off; rewrite addn0 mul1mx /= E.
exists (Phi v (a (i.+1 + k)%N) *m Q) => b off; rewrite addnS -mulmxA -IH //=; congr (_ *m _); congr (_ - _).
by apply: eq_bigr => h _; rewrite off // neq_ltn addSn ltnS leq_addr orbT.
Qed.

Definition tilde (nu : shares) : shares :=
  fun i k => let h := (pi i)^-1%g k in if J h then 1 - nu i h else nu i h.
Lemma tildeE nu i h : tilde nu (pi i h) = if J h then 1 - nu i h else nu i h.
Proof. by rewrite /tilde permK. Qed.

Theorem H_causal_signs : (forall i, (i < l)%N -> Fm w i \in unitmx) -> condition_4 ->
  (forall (nu nu' : shares) z, (forall i h, nu' i (pi i h) = if J h then 1 - nu i h else nu i h) ->
     tokens w' none nu' l z = tokens w none nu l z) ->
  forall i (h : 'I_(H i)), (i < l)%N -> J h = false.
Proof.
move=> u c4 K.
have K1 nu : diff w' (tilde nu) l = diff w nu l.
  apply: mulmx_inj => v; have E := K nu (tilde nu) (v, 0) (tildeE nu).
  by have := tokens_diff w nu l (v, 0); rewrite -E tokens_diff /= subr0.
have Phi0 i : Phi w (none (i := i)) = Fm w i.
  by rewrite /Phi big1 ?subr0 // => h _; rewrite scale0r.
have D0 k : diff w none k = C w k by elim: k => //= k ->; rewrite Phi0.
pose Ct := diff w' (tilde none).
have CtS i : Ct i.+1 = Phi w' (tilde none (i := i)) *m Ct i by [].
have Ctl : Ct l = C w l by rewrite /Ct K1 D0.
have uC i : (i <= l)%N -> C w i \in unitmx.
  by move=> il; apply: C_unit => j ji; apply: u; apply: leq_trans ji il.
have uCt i : (i <= l)%N -> Ct i \in unitmx.
  have : Ct l \in unitmx by rewrite Ctl uC.
  move: (l) => n; elim: n => [|n IH] un; first by rewrite leqn0 => /eqP->.
  rewrite leq_eqVlt => /orP[/eqP->//|]; rewrite ltnS; apply: IH.
  by move: un; rewrite CtS unitmx_mul => /andP[].
have [T TC] : exists T : nat -> mat, forall i, (i <= l)%N -> T i *m C w i = Ct i.
  by exists (fun i => Ct i *m invmx (C w i)) => i il; rewrite mulmxKV ?uC.
have uT i : (i <= l)%N -> T i \in unitmx.
  by move=> il; have := uCt i il; rewrite -TC // unitmx_mul => /andP[].
have T0 : T 0%N = 1%:M by rewrite -[LHS]mulmx1 TC.
have Tl : T l = 1%:M by rewrite -[LHS](mulmxK (uC l (leqnn l))) TC // Ctl mulmxV // uC.
pose sg i (h : 'I_(H i)) : F := if J h then -1 else 1.
have TN i : (i < l)%N -> Phi w' (tilde none (i := i)) *m T i = T i.+1 *m Fm w i.
  move=> il; apply: (can_inj (mulmxK (uC i (ltnW il)))).
  by rewrite -[LHS]mulmxA TC ?(ltnW il) // -CtS -(TC _ il) CS mulmxA.
have TV i (h : 'I_(H i)) : (i < l)%N -> sg i h *: V w' (pi i h) *m T i = T i.+1 *m V w h.
  move=> il; have [Q HQ] := diff_one w none il; have [Q' HQ'] := diff_one w' (tilde none) il.
  have off j (k : 'I_(H j)) : j != i -> one h k = none k by move=> ji; rewrite one_off.
  have off' j (k : 'I_(H j)) : j != i -> tilde (one h) k = tilde none k.
    by move=> ji; rewrite /tilde /= one_off.
  have E0 := K1 none; rewrite (HQ none) // (HQ' (tilde none)) // in E0.
  have E1 := K1 (one h); rewrite (HQ (one h)) // (HQ' (tilde (one h))) // in E1.
  have QC : Q' *m T i.+1 = Q.
    apply: (can_inj (mulmxK (uC _ il))); rewrite -[LHS]mulmxA TC // CS -D0.
    by rewrite -(Phi0 i) CtS -E0.
  have NV : Phi w (none (i := i)) - Phi w (@one i h i) = V w h.
    rewrite /Phi opprB addrC addrA subrK (bigD1 h) //= big1 => [|k kh]; last first.
      by rewrite /one (inj_eq val_inj) (negPf kh) andbF scale0r.
    rewrite big1 => [|k _]; last by rewrite scale0r.
    by rewrite /one !eqxx scale1r addr0 subr0.
  have NV' : Phi w' (tilde none (i := i)) - Phi w' (tilde (one h) (i := i)) = sg i h *: V w' (pi i h).
    rewrite /Phi opprB addrC addrA subrK -sumrB (reindex_inj (@perm_inj _ (pi i))) (bigD1 h) //= big1 => [|k kh].
      rewrite !tildeE /one !eqxx -scalerBl addr0 /sg; case: (J h); last by rewrite subr0.
      by rewrite subr0 subrr sub0r.
    by rewrite !tildeE /one (inj_eq val_inj) (negPf kh) andbF subrr.
  have uQ : Q' \in unitmx.
    by have := uCt l (leqnn l); rewrite /Ct (HQ' (tilde none)) // unitmx_mul => /andP[].
  apply: (can_inj (mulKmx uQ)); rewrite [RHS]mulmxA QC.
  apply: (can_inj (mulmxK (uC i (ltnW il)))).
  rewrite -!mulmxA TC ?(ltnW il) // -NV' (mulmxBl (Phi w' _)) (mulmxBr Q').
  by rewrite -NV (mulmxBl (Phi w _)) (mulmxBr Q) -D0 /Ct E0 E1.
have TF i : (i < l)%N -> Fm w' i *m T i = T i.+1 *m (Fm w i - \sum_(h | J h) V w (i := i) h).
  move=> il; have -> : Fm w' i = Phi w' (tilde none (i := i)) + \sum_(h | J h) V w' (pi i h).
    rewrite /Phi (reindex_inj (@perm_inj _ (pi i))) /= [X in _ - X](bigID (@J i)) /=.
    rewrite [X in _ - (_ + X)]big1 => [|h /negPf Jh]; last by rewrite tildeE Jh scale0r.
    rewrite addr0 [X in _ - X](eq_bigr (fun h => V w' (pi i h))) ?subrK // => h Jh.
    by rewrite tildeE Jh subr0 scale1r.
  rewrite mulmxDl TN // mulmxBr; congr (_ + _).
  rewrite mulmx_suml mulmx_sumr -sumrN; apply: eq_bigr => h Jh.
  by rewrite -TV // /sg Jh scaleN1r mulNmx opprK.
have TB i : (i < l)%N -> (\sum_h V w' (i := i) h) *m T i =
    T i.+1 *m (\sum_h V w (i := i) h - (\sum_(h | J h) V w (i := i) h) *+ 2).
  move=> il; rewrite (reindex_inj (@perm_inj _ (pi i))) /= mulmx_suml.
  rewrite [in RHS](bigID (@J i)) /= mulr2n opprD addrACA subrr add0r mulmxBr !mulmx_sumr -sumrN.
  rewrite (bigID (@J i)) /= addrC; congr (_ + _); apply: eq_bigr => h.
    by move=> /negPf Jh; rewrite -TV // /sg Jh scale1r.
  by move=> Jh; rewrite -TV // /sg Jh scaleN1r mulNmx opprK.
case: (boolP skip) => sk; last first.
  have {}c4 := c4; rewrite /condition_4 (negPf sk) in c4.
  move=> i h il; apply: (c4 i (@J i) il).
  have := TF i il; rewrite /Fm (negPf sk) !add0r TB // => /(can_inj (mulKmx (uT i.+1 il))).
  by move=> /addrI/oppr_inj; rewrite mulr2n -[X in _ = X]addr0 => /addrI.
rewrite /condition_4 sk in c4; apply: c4.
have TP k : (k <= l)%N -> T k *m product (fun i => @J i) k = 1%:M.
  elim: k => [|k IH] kl; first by rewrite T0 mulmx1.
  rewrite /= mulmxA; rewrite -[RHS](IH (ltnW kl)); congr (_ *m _).
  have := TF k kl; have := TB k kl; rewrite /Fm sk mulmxDl mul1mx => -> /(canRL (addrK _)) ->.
  by rewrite -mulmxBr; congr (_ *m _); rewrite mulr2n opprB !addrA subrK addrAC addrK.
by rewrite -[LHS]mul1mx -Tl TP.
Qed.
End Signs.

(* The converse, for t tokens and any map sm of the logits whose columns add up to 1 and which does not see a
   number added to a column: softmax, causal or not. *)
Section Converse.
Variables (t : nat) (sm : 'M[F]_t -> 'M[F]_t).
Notation ones := (const_mx 1 : 'rV[F]_t).

Definition layer w i (X : 'M[F]_(d, t)) : 'M[F]_(d, t) :=
  (if skip then X else 0) + \sum_h V w (i := i) h *m X *m sm (X^T *m (A w h *m X + c w h *m ones))
    + om w i *m ones.

Fixpoint network w k X := if k is i.+1 then layer w i (network w i X) else X.

Theorem H_converse (w w' : weights) pi G g :
  (forall S, ones *m sm S = ones) -> (forall S (u : 'rV_t), sm (S + ones^T *m u) = sm S) ->
  in_orbit w w' pi G g -> forall X, network w' l X = network w l X.
Proof.
move=> sm1 smS [[G0 g0] [Gl gl] uG Gs O] X.
suff E k : (k <= l)%N -> network w' k X = G k *m network w k X + g k *m ones.
  by rewrite E // Gl gl mul1mx mul0mx addr0.
elim: k => [|i IH] il; first by rewrite G0 g0 mul1mx mul0mx addr0.
rewrite [network w' _ _]/= [network w _ _]/= IH ?(ltnW il) //; move: (network w i X) => Y {IH}.
have [Fi Oi] := O i il.
have uGi := uG i (ltnW il).
rewrite /layer (reindex_inj (@perm_inj _ (pi i))) /=.
have -> : \sum_h V w' (pi i h) *m (G i *m Y + g i *m ones) *m
    sm ((G i *m Y + g i *m ones)^T *m (A w' (pi i h) *m (G i *m Y + g i *m ones) + c w' (pi i h) *m ones)) =
    G i.+1 *m (\sum_h V w (i := i) h *m Y *m sm (Y^T *m (A w h *m Y + c w h *m ones))) +
    (\sum_h V w' (i := i) h) *m g i *m ones.
  rewrite mulmx_sumr [X in _ = _ + X *m _ *m _](reindex_inj (@perm_inj _ (pi i))) /=.
  rewrite !mulmx_suml -big_split /=.
  apply: eq_bigr => h _; have [VE AE cE] := Oi h.
  set S' := sm _; have -> : S' = sm (Y^T *m (A w h *m Y + c w h *m ones)).
    rewrite /S' -[RHS](smS _
      ((g i)^T *m (A w' (pi i h) *m (G i *m Y + g i *m ones) + c w' (pi i h) *m ones))).
    congr sm; rewrite [(_ + _)^T]linearD /= mulmxDl !trmx_mul -!mulmxA; congr (_ *m _ + _).
    by rewrite AE cE affD mulmxDr -!mulmxA mulmxDl -!mulmxA.
  move: (sm _) (sm1 (Y^T *m (A w h *m Y + c w h *m ones))) => S S1.
  by rewrite mulmxDr mulmxDl !mulmxA -[X in _ + X]mulmxA S1 {1}VE mulmxKV // -!mulmxA.
have := Fi 0; rewrite !mulmx0 !add0r /Fm mulmxDl => E.
case: skip Gs E => [/(_ isT) Gs|_]; last first.
  by rewrite mul0mx !add0r => E; rewrite mulmxDr !mulmxA -!addrA -!mulmxDl E.
rewrite !Gs ?(ltnW il) // !mul1mx => E.
by rewrite addrACA -addrA -!mulmxDl E mulmxDl addrA.
Qed.
End Converse.
End TheoremH.
Print Assumptions H_the_weights.
Print Assumptions H_columns.
Print Assumptions H_causal_signs.
Print Assumptions H_converse.
