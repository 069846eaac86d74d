package main

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// amounts reads the numbers and lengths of time on the command line, and says in our words what is
// wrong with one.
func amounts() []kong.Option {
	whole := kong.MapperFunc(wholeNumber)
	return []kong.Option{
		kong.KindMapper(reflect.Int, whole),
		kong.KindMapper(reflect.Int64, whole),
		kong.KindMapper(reflect.Float64, kong.MapperFunc(number)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(lengthOfTime)),
	}
}

func wholeNumber(at *kong.DecodeContext, target reflect.Value) error {
	said, err := word(at)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(said, 10, target.Type().Bits())
	if errors.Is(err, strconv.ErrRange) {
		return noAmount(at, "10", "is too large a number")
	}
	if err != nil {
		return noAmount(at, "10", "must be a whole number")
	}
	target.SetInt(n)
	return nil
}

func number(at *kong.DecodeContext, target reflect.Value) error {
	said, err := word(at)
	if err != nil {
		return err
	}
	n, err := strconv.ParseFloat(said, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return noAmount(at, "0.5", "must be a number")
	}
	target.SetFloat(n)
	return nil
}

func lengthOfTime(at *kong.DecodeContext, target reflect.Value) error {
	said, err := word(at)
	if err != nil {
		return err
	}
	while, err := whileOf(said)
	if err != nil {
		return noAmount(at, "30s", "must be a length of time with its unit: s, m, h or d")
	}
	target.SetInt(int64(while))
	return nil
}

// whileOf reads a length of time, of which days are written as 90d.
func whileOf(said string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(said, "d"); isDays {
		while, err := time.ParseDuration(days + "h")
		if err == nil && while.Abs() > math.MaxInt64/24 {
			err = strconv.ErrRange
		}
		return 24 * while, err
	}
	return time.ParseDuration(said)
}

// word is the value that a flag was given.
func word(at *kong.DecodeContext) (string, error) {
	var said string
	return said, at.Scan.PopValueInto("value", &said)
}

// noAmount refuses a value of a flag, with the flag's usual one as the example.
func noAmount(at *kong.DecodeContext, example, why string) error {
	if usual := at.Value.Default; strings.Trim(usual, "0s") != "" {
		example = usual
	}
	return wrong("as in "+at.Value.ShortSummary()+" "+example, "%s %s", at.Value.ShortSummary(), why)
}
