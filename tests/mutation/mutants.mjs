// Ways to break the caches and the attention, each with the tests that have to notice.
const SDPA = 'src/attention/sdpa.cc';
const PLANNER = 'src/attention/slot_planner.cc';
const PLANNER_H = 'src/attention/slot_planner.h';
const CACHE = 'src/attention/row_kv_cache.cc';
const STORAGE = 'src/attention/kv_storage.cc';
const I8 = 'src/attention/sdpa_tile_i8.h';
const QUANTIZE = 'src/kernels/quantize_row.cc';
const SESSION = 'src/runtime/session.cc';
const GENERATION = 'src/runtime/generation.cc';

// `find` must stand in the file exactly once.
export const MUTANTS = [
  {
    name: 'query heads share the wrong KV head',
    file: SDPA,
    find: 'return item.kv_head * group_ + (item.first + u) % group_;',
    replace: 'return item.kv_head + kv_heads_ * ((item.first + u) % group_);',
    tests: 'SdpaTest.EveryHeadDimensionAndGroupIsRight',
  },
  {
    name: 'a row sees one key too many',
    file: SDPA,
    find: 'keys.end = std::min(keys.end, position + 1);',
    replace: 'keys.end = std::min(keys.end, position + 2);',
    tests: 'SdpaTest.CausalAttentionIsRightForEveryLengthAndStart',
  },
  {
    name: 'a window sees one key too many',
    file: SDPA,
    find: 'keys.begin = std::max(keys.begin, position + 1 - mask_.window);',
    replace: 'keys.begin = std::max(keys.begin, position - mask_.window);',
    tests: 'SdpaTest.ASlidingWindowSeesTheLastKeysOnly',
  },
  {
    name: 'the last keys of a partial tile are skipped',
    file: SDPA,
    find: 'key < end; key += kKeyTile) {',
    replace: 'key + (key > 0 ? kKeyTile : 0) <= end; key += kKeyTile) {',
    tests: 'SdpaTest.DecodeRightAfterALongPrefillIsRight',
  },
  {
    name: 'what was summed is not rescaled',
    file: SDPA,
    find: 'Scale(partial.sum + u * q_.dim(), q_.dim(), factor);',
    replace: '(void)factor;',
    tests: 'SdpaTest.CausalAttentionIsRightForEveryLengthAndStart',
  },
  {
    name: 'the sum of weights is not rescaled',
    file: SDPA,
    find: 'partial.total[u] *= factor;',
    replace: '',
    tests: 'SdpaTest.CausalAttentionIsRightForEveryLengthAndStart',
  },
  {
    name: 'splits are added without their log-sum-exp',
    file: SDPA,
    find: 'const float add = std::exp(from.largest[u] - largest);',
    replace: 'const float add = 1.0f;',
    tests: 'SdpaTest.DecodeRightAfterALongPrefillIsRight:SdpaTest.ThreadsChangeNothing*',
  },
  {
    name: 'a row that sees nothing is not counted',
    file: SDPA,
    find: 'if (!sees) ++blind;',
    replace: '',
    tests: 'SdpaTest.RangesPerRowAndRowsThatSeeNothing',
  },
  {
    name: 'a row that sees nothing divides by zero',
    file: SDPA,
    find: 'if (sees) Scale(',
    replace: 'Scale(',
    tests: 'SdpaTest.RangesPerRowAndRowsThatSeeNothing:SdpaTest.NoKeysGiveZeros',
  },
  {
    name: 'the soft cap is applied after the mask',
    file: 'src/attention/sdpa_tile.h',
    find: 'score = hn::Mul(cap, Tanh(df, hn::Div(score, cap)));',
    replace: 'score = hn::Min(cap, score);',
    tests: 'SdpaTest.SoftCapBoundsTheScores',
  },
  {
    name: 'the sink is met with the plain queries',
    file: SDPA,
    find: 'const bool turned = part == kSinkPart && options_.sink_query != nullptr;',
    replace: 'const bool turned = false;',
    tests: 'SdpaTest.KeysOfTheSinkMeetTheirOwnQueries',
  },
  {
    name: 'the boolean mask of head 0 serves all heads',
    file: 'src/attention/sdpa.h',
    find: 'return data + head * head_stride + row * row_stride;',
    replace: 'return data + 0 * head + row * row_stride;',
    tests: 'SdpaTest.ABooleanMask*:SdpaTest.ABias*',
  },
  {
    name: 'a ring wraps one slot late',
    file: PLANNER_H,
    find: '(position - plan_.sink) % ring_;',
    replace: '(position - plan_.sink) % (ring_ - 1);',
    tests: 'SlotPlannerTest.*:SdpaTest.ASlidingCacheGives*',
  },
  {
    name: 'a ring has no room for the rest of a chunk',
    file: PLANNER,
    find: 'const auto ring = CheckedAdd(plan.window, plan.chunk - 1);',
    replace: 'const auto ring = CheckedAdd(plan.window, int64_t{0});',
    tests: 'SlotPlannerTest.EveryRowFindsItsWindow*:SdpaTest.ASlidingCacheGives*',
  },
  {
    name: 'a rewound ring shows rows that were overwritten',
    file: PLANNER,
    find: 'return std::max({oldest_, plan_.sink, length - ring_});',
    replace: 'return std::max(plan_.sink, length - ring_);',
    tests: 'SlotPlannerTest.AfterRewindingOnlyWhatIsThereIsSeen',
  },
  {
    name: 'a ring is rewound past what it has',
    file: PLANNER,
    find: 'n < length_ && needed < oldest_)',
    replace: 'n < length_ && needed < 0)',
    tests: 'SlotPlannerTest.RewindingIsRefusedWhenRowsOfTheWindowAreGone',
  },
  {
    name: 'clear leaves the cursor where it was',
    file: PLANNER,
    find: 'void SlotPlanner::Clear() {\n  length_ = 0;',
    replace: 'void SlotPlanner::Clear() {\n  length_ += 0;',
    tests: '*KvCacheTest.AfterClearARerun*:SlotPlannerTest.ClearForgetsTheCursor',
  },
  {
    name: 'every row goes to slot 0',
    file: CACHE,
    find: 'storage_->Store(planner_.SlotOf(start + row), k, v, row);',
    replace: 'storage_->Store(planner_.SlotOf(0), k, v, row);',
    tests: '*KvCacheTest.StoresEveryRowOfEveryHeadInItsPlace*',
  },
  {
    name: 'an update writes before it checks',
    file: CACHE,
    find: 'if (Status status = planner_.CheckWrite(start, k.seq()); !status.ok()) return status;',
    replace:
      'if (storage_) storage_->Store(0, k, v, 0);\n' +
      '    if (Status status = planner_.CheckWrite(start, k.seq()); !status.ok()) return status;',
    tests: '*KvCacheTest.AnErrorChangesNoByte*',
  },
  {
    name: 'the first row of a list wins',
    file: CACHE,
    find: 'for (int64_t row = 0; row < k.seq(); ++row) {\n      storage_->Store(planner_.SlotOf(positions',
    replace: 'for (int64_t row = k.seq() - 1; row >= 0; --row) {\n      storage_->Store(planner_.SlotOf(positions',
    tests: '*KvCacheTest.RowsGoToThePositionsOfAList*',
  },
  {
    name: 'the heads of V are stored as those of K',
    file: STORAGE,
    find: 'StoreRow(v.Row(0, head, row), index, v_);',
    replace: 'StoreRow(v.Row(0, 0, row), index, v_);',
    tests: '*KvCacheTest.StoresEveryRowOfEveryHeadInItsPlace*',
  },
  {
    name: 'a row written again keeps its old scale',
    file: STORAGE,
    find: 'half.scales.as<float>()[index] = row.scale;',
    replace: 'if (!(half.scales.as<float>()[index] > 0)) half.scales.as<float>()[index] = row.scale;',
    tests: '*KvCacheTest.ARowWrittenAgainHasItsOwnScale*',
  },
  {
    name: 'a fork misses the scales',
    file: STORAGE,
    find: 'copy(from->scales, to->scales, sizeof(float));',
    replace: '',
    tests: '*KvCacheTest.AForkGoesItsOwnWay*',
  },
  {
    name: 'the scale has no floor',
    file: QUANTIZE,
    find: 'std::numeric_limits<float>::epsilon());',
    replace: '1e-30f);',
    tests: 'QuantizeRowTest.*',
  },
  {
    name: 'the range of a row leaves zero out',
    file: QUANTIZE,
    find: 'least = hn::Zero(df), largest = hn::Zero(df);',
    replace: 'least = hn::Set(df, in[0]), largest = hn::Set(df, in[0]);',
    tests: 'QuantizeRowTest.*',
  },
  {
    name: 'the zero point of the keys stays in the scores',
    file: I8,
    find: 'hn::Mul(hn::Sub(sums, zero), scale)',
    replace: 'hn::Mul(hn::Add(sums, hn::Mul(zero, hn::Zero(df))), scale)',
    tests: 'SdpaTest.CausalAttentionIsRightForEveryLengthAndStart',
  },
  {
    name: 'the zero point of the values stays in the sums',
    file: I8,
    find: 'out.zero = hn::ReduceSum(di, zero);',
    replace: 'out.zero = 0 * hn::ReduceSum(di, zero);',
    tests: 'SdpaTest.CausalAttentionIsRightForEveryLengthAndStart',
  },
  {
    name: 'the last row of an odd tile of values is left out',
    file: I8,
    find: 'for (int64_t s = 0; s < values.count; s += 2) {',
    replace: 'for (int64_t s = 0; s + 1 < values.count; s += 2) {',
    tests: 'SdpaTest.CausalAttentionIsRightForEveryLengthAndStart',
  },
  {
    name: 'a prompt that was run before is not run at all',
    file: SESSION,
    find: 'const auto end = prompt.end() - 1;',
    replace: 'const auto end = prompt.end();',
    tests: '*SessionTest.OnlyWhatDiffersIsComputedAgain*',
    runtime: true,
  },
  {
    name: 'a truncated session keeps its tokens',
    file: SESSION,
    find: 'tokens_.resize(static_cast<size_t>(n));',
    replace: '',
    tests: '*SessionTest.TruncateThenGenerateEqualsAFreshRun*',
    runtime: true,
  },
  {
    name: 'a shift loses the token that was drawn last',
    file: GENERATION,
    find: '  pending_.push_back(tokens_.back());\n',
    replace: '',
    tests: '*SessionTest.AFullContextShifts*',
    runtime: true,
  },
];
