/* Numbers of ONNX's protobuf fields and types: onnx.proto, IR 10. And what the two files that write it share. */
#ifndef GBT_EXCHANGE_ONNX_H
#define GBT_EXCHANGE_ONNX_H

#include "outgoing.h"
#include "text.h"

enum {
  ONNX_MODEL_IR = 1,
  ONNX_MODEL_PRODUCER = 2,
  ONNX_MODEL_GRAPH = 7,
  ONNX_MODEL_OPSET = 8,
  ONNX_OPSET_DOMAIN = 1,
  ONNX_OPSET_VERSION = 2,
  ONNX_GRAPH_NODE = 1,
  ONNX_GRAPH_NAME = 2,
  ONNX_GRAPH_INPUT = 11,
  ONNX_GRAPH_OUTPUT = 12,
  ONNX_NODE_INPUT = 1,
  ONNX_NODE_OUTPUT = 2,
  ONNX_NODE_TYPE = 4,
  ONNX_NODE_ATTRIBUTE = 5,
  ONNX_NODE_DOMAIN = 7,
  ONNX_ATTRIBUTE_NAME = 1,
  ONNX_ATTRIBUTE_FLOAT = 2,
  ONNX_ATTRIBUTE_INT = 3,
  ONNX_ATTRIBUTE_STRING = 4,
  ONNX_ATTRIBUTE_TENSOR = 5,
  ONNX_ATTRIBUTE_FLOATS = 7,
  ONNX_ATTRIBUTE_INTS = 8,
  ONNX_ATTRIBUTE_STRINGS = 9,
  ONNX_ATTRIBUTE_TYPE = 20,
  ONNX_TENSOR_DIMS = 1,
  ONNX_TENSOR_TYPE = 2,
  ONNX_TENSOR_RAW = 9,
  ONNX_VALUE_NAME = 1,
  ONNX_VALUE_TYPE = 2,
  ONNX_TYPE_TENSOR = 1,
  ONNX_TENSOR_ELEMENTS = 1,
  ONNX_TENSOR_SHAPE = 2,
  ONNX_SHAPE_DIM = 1,
  ONNX_DIM_VALUE = 1,
  ONNX_DIM_NAME = 2
};

/* of attributes */
enum {
  ONNX_FLOAT = 1,
  ONNX_INT = 2,
  ONNX_STRING = 3,
  ONNX_TENSOR = 4,
  ONNX_REALS = 6,
  ONNX_INTS = 7,
  ONNX_STRINGS = 8
};
enum { ONNX_FLOATS = 1, ONNX_BYTES = 2, ONNX_WHOLES = 7, ONNX_TEXTS = 8, ONNX_DOUBLES = 11 }; /* of tensors */
enum { ONNX_AT_MOST = 0, ONNX_EQUAL = 4, ONNX_MEMBER = 6 }; /* of nodes of TreeEnsemble */

typedef struct onnx_writer {
  const gbti_outgoing *x;
  int floats;      /* 1: float32, by operators of ai.onnx.ml 3; 0: doubles, by ai.onnx.ml 5 */
  uint8_t *used;   /* by column */
  int32_t *place;  /* by column: its feature */
  uint32_t *id;    /* by node of a tree: its number in the file */
  gbti_file graph; /* the fields of the graph */
  gbti_file node;  /* those of one node */
  gbti_file part;  /* those of an attribute, or of a value's type */
  gbti_file inner; /* those of a part of it */
} onnx_writer;

/* NAME and a text; number: after it, if it is not negative. */
typedef struct onnx_name {
  char text[96];
} onnx_name;
onnx_name gbti_onnx_name(const onnx_writer *w, const char *what, int32_t number);

/* Fields: numbers, texts and messages, which move into the one that they are part of. */
void gbti_onnx_whole(gbti_file *out, uint32_t field, int64_t x);
void gbti_onnx_text(gbti_file *out, uint32_t field, const char *text);
void gbti_onnx_message(gbti_file *out, uint32_t field, gbti_file *message);
/* A double, or a float32 where the writer has those. */
void gbti_onnx_real(const onnx_writer *w, gbti_file *out, double x);

/* Of w->node: its inputs and outputs, its attributes (w->part has the value's field, or the functions below put it),
 * and its end, by which it is in the graph. */
void gbti_onnx_link(onnx_writer *w, int is_output, const char *name);
void gbti_onnx_attribute(onnx_writer *w, const char *name, int type);
void gbti_onnx_whole_attribute(onnx_writer *w, const char *name, int64_t x);
void gbti_onnx_tensor(onnx_writer *w, const char *name, int type, size_t n, gbti_file *values);
void gbti_onnx_end(onnx_writer *w, const char *type, int is_ml);

/* The node of the trees, from NAME:rows to the sums. Levels are the numbers 2 + position, or 1. */
void gbti_onnx_trees(onnx_writer *w);

#endif
