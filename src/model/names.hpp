#pragma once
// The tensors of a checkpoint in the decoder's own terms: which of them make each matrix and vector of each layer.
// Families fill it; blocks plan their weights from it.
#include <string>
#include <variant>
#include <vector>

#include "model/spec.hpp"
#include "model/weight_plan.hpp"

namespace ztvm::model {

struct AttentionNames {
  std::string norm;  // [dim]
  MatrixSpec in;     // rows q | k | v, and the gate's if there is one; heads in order, each of head_dim rows
  std::string q_norm;  // [head_dim], if the spec has qk_norm
  std::string k_norm;
  MatrixSpec out;  // [dim, n_heads head_dim]
};

struct DeltaNetNames {
  std::string norm;      // [dim]
  MatrixSpec in;         // rows q | k | v | z | b | a
  std::string conv;      // [channels, width] in this order, whatever singleton dimensions are between
  std::string a_log;     // [n_value_heads]
  std::string dt_bias;   // [n_value_heads]
  std::string out_norm;  // [value_dim]
  MatrixSpec out;        // [dim, n_value_heads value_dim]
};

struct MlpNames {
  std::string norm;    // [dim]
  MatrixSpec gate_up;  // [2 ffn_dim, dim], gate first
  MatrixSpec down;     // [dim, ffn_dim]
};

struct MoeNames {
  std::string norm;           // [dim]
  MatrixSpec router;          // a row an expert, and one more for the shared expert's gate if there is one
  MatrixSpec gate_up;         // an expert after the other, of each gate then up
  MatrixSpec down;            // an expert after the other
  MatrixSpec shared_gate_up;  // no sources without a shared expert
  MatrixSpec shared_down;
};

struct LayerNames {
  std::variant<AttentionNames, DeltaNetNames> mixer;
  std::variant<MlpNames, MoeNames> ffn;
};

struct WeightNames {
  MatrixSpec embedding;
  std::vector<LayerNames> layers;
  std::string final_norm;
  MatrixSpec head;  // no sources: tied to the embedding
};

}  // namespace ztvm::model
