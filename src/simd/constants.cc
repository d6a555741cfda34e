#include "simd/constants.h"

namespace kvasir {
namespace {

constexpr float kTwoTo112 = 5192296858534827628530496329220096.0f;

}  // namespace

alignas(16) const uint8_t kLowNibbleBytes[16] = {15, 15, 15, 15, 15, 15, 15, 15,
                                                 15, 15, 15, 15, 15, 15, 15, 15};
alignas(16) const uint8_t kLowPairBytes[16] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
alignas(16) const uint8_t kThirdBitBytes[16] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
alignas(16) const uint8_t kFifthBitBytes[16] = {16, 16, 16, 16, 16, 16, 16, 16,
                                                16, 16, 16, 16, 16, 16, 16, 16};
alignas(16) const uint8_t kUpperPairBytes[16] = {0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
                                                 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30};
alignas(16) const int16_t kOneWords[8] = {1, 1, 1, 1, 1, 1, 1, 1};
alignas(16) const uint32_t kF16SignAndBits[4] = {0x8fffe000u, 0x8fffe000u, 0x8fffe000u,
                                                 0x8fffe000u};
alignas(16) const float kF16Rebias[4] = {kTwoTo112, kTwoTo112, kTwoTo112, kTwoTo112};

}  // namespace kvasir
