package static_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/projections/embedding"
)

type object = map[string]any

var wordPiece = object{
	"normalizer":    object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
	"pre_tokenizer": object{"type": "BertPreTokenizer"},
	"model": object{
		"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
		"vocab": object{"[UNK]": 0, "cafe": 1, "token": 2, "##s": 3, "中": 4, "!": 5},
	},
}

var unigram = object{
	"normalizer": object{"type": "Sequence", "normalizers": []object{
		{"type": "Precompiled"}, {"type": "Replace", "pattern": object{"Regex": " {2,}"}, "content": " "},
	}},
	"pre_tokenizer": object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
	"model": object{"type": "Unigram", "unk_id": 0, "vocab": [][2]any{
		{"<unk>", 0}, {"▁café", -3}, {"▁token", -4}, {"s", -5}, {"▁", -4}, {"中文", -6},
	}},
}

// identity is a table whose rows say which tokens a text has.
func identity(kind string) (data []byte, shape []int) {
	const tokens = 6
	for i := range tokens * tokens {
		one := i%(tokens+1) == 0
		switch kind {
		case "I8":
			data = append(data, map[bool]byte{true: 1}[one])
		case "F16":
			data = binary.LittleEndian.AppendUint16(data, map[bool]uint16{true: 0x3c00}[one])
		default:
			data = binary.LittleEndian.AppendUint32(data, map[bool]uint32{true: math.Float32bits(1)}[one])
		}
	}
	return data, []int{tokens, tokens}
}

// modelFolder writes a model, and returns its folder.
func modelFolder(t *testing.T, tokenizer object, name, kind string, shape []int, data []byte) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "small")
	header, _ := json.Marshal(object{
		"__metadata__": object{}, name: object{"dtype": kind, "shape": shape, "data_offsets": []int{0, len(data)}},
	})
	encoded, _ := json.Marshal(tokenizer)
	tensors := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), append(header, data...)...)
	for _, err := range []error{
		os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "tokenizer.json"), encoded, 0o600),
		os.WriteFile(filepath.Join(folder, "model.safetensors"), tensors, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func openedFile(path string) (embedding.Embedder, error) {
	e, _, err := embedding.FromEnvironment(func(name string) string {
		return map[string]string{"ANNALS_EMBEDDING_FILE": path}[name]
	})
	return e, err
}

func TestAFileEmbedsTheTokensOfAText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tokenizer object
		kind      string
		text      string
		want      []float32 // how often it has each token
	}{
		{wordPiece, "F32", "Café, tokens\tTOKEN! unheard-of", []float32{0, 1, 2, 1, 0, 1}},
		{wordPiece, "F16", "中国 tokenx", []float32{0, 0, 0, 0, 1, 0}},
		{unigram, "I8", "café  tokens ｔｏｋｅｎ", []float32{0, 1, 2, 1, 0, 0}},
		{unigram, "F32", "中文中文 ?", []float32{0, 0, 0, 0, 2, 2}},
		{unigram, "F32", "", []float32{1, 0, 0, 0, 0, 0}},
	} {
		data, shape := identity(test.kind)
		e, err := openedFile(modelFolder(t, test.tokenizer, "embeddings", test.kind, shape, data))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(e.Name(), "file:small:") || !strings.HasSuffix(e.Name(), ":6") || len(e.Name()) != 21 {
			t.Errorf("its name is %s", e.Name())
		}
		got, err := e.Embed(t.Context(), []string{test.text}, embedding.Document)
		if err != nil || embedding.Normalize(test.want) != nil {
			t.Fatal(err)
		}
		if embedding.Cosine(got[0], test.want) < 0.9999 {
			t.Errorf("%q: %s", test.text, cmp.Diff(got[0], test.want))
		}
	}
}

func TestWhatIsWrongWithAFileIsSaid(t *testing.T) {
	t.Parallel()
	data, shape := identity("F32")
	for _, test := range []struct {
		path string
		says string
	}{
		{modelFolder(t, wordPiece, "embeddings", "F32", shape, data[:99]), "model.safetensors: the file is cut off"},
		{modelFolder(t, wordPiece, "embeddings", "F32", []int{36}, data), `"embeddings" has the shape [36]`},
		{modelFolder(t, wordPiece, "embeddings", "F32", []int{4, 9}, data), "4 rows"},
		{modelFolder(t, wordPiece, "others", "F32", shape, data), `no tensor "embeddings"`},
		{modelFolder(t, wordPiece, "embeddings", "BF16", shape, data), "BF16"},
		{modelFolder(t, object{"model": object{"type": "BPE"}}, "embeddings", "F32", shape, data), `tokenizer.json: its model is "BPE"`},
		{filepath.Join(t.TempDir(), "nowhere"), "nowhere/tokenizer.json: there is no such file"},
	} {
		if _, err := openedFile(test.path); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("got %v, want %q", err, test.says)
		}
	}
}
