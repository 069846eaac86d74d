package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// coded gives an error that has none a code of JSON-RPC: the SDK would answer with 0, which is none.
func coded(err error, code int64) error {
	if known, ok := errors.AsType[*jsonrpc.Error](err); err == nil || ok && known.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// failing gives a code to what goes wrong while a method is carried out. What it is refused for before, such as that
// the host has not introduced itself, [lineConnection] finds without one.
func failing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, request)
		if method == "initialize" {
			return result, coded(err, jsonrpc.CodeInvalidRequest)
		}
		return result, coded(err, jsonrpc.CodeInternalError)
	}
}
