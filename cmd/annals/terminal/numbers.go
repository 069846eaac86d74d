package terminal

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// NumberMappers parse numbers and durations of the command line, with our own error messages.
func NumberMappers() []kong.Option {
	return []kong.Option{
		kong.KindMapper(reflect.Int, amount(wholeNumber)),
		kong.KindMapper(reflect.Int64, amount(wholeNumber)),
		kong.KindMapper(reflect.Float64, amount(number)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), amount(lengthOfTime)),
	}
}

// amount parses the value of a flag.
type amount func(at *kong.DecodeContext, said string, target reflect.Value) error

// Decode implements kong.Mapper.
func (read amount) Decode(at *kong.DecodeContext, target reflect.Value) error {
	var said string
	if err := at.Scan.PopValueInto("value", &said); err != nil {
		return err
	}
	return read(at, said, target)
}

func wholeNumber(at *kong.DecodeContext, said string, target reflect.Value) error {
	n, err := strconv.ParseInt(said, 10, target.Type().Bits())
	if errors.Is(err, strconv.ErrRange) {
		return invalidNumber(at, "10", "is too large a number")
	}
	if err != nil {
		return invalidNumber(at, "10", "must be a whole number")
	}
	if least := at.Value.Tag.Get("least"); least != "" {
		if smallest, err := strconv.ParseInt(least, 10, 64); err != nil || n < smallest {
			return invalidNumber(at, least, "must be "+least+" or more")
		}
	}
	target.SetInt(n)
	return nil
}

func number(at *kong.DecodeContext, said string, target reflect.Value) error {
	n, err := strconv.ParseFloat(said, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return invalidNumber(at, "0.5", "must be a number")
	}
	target.SetFloat(n)
	return nil
}

func lengthOfTime(at *kong.DecodeContext, said string, target reflect.Value) error {
	while, err := durationOf(said)
	if err != nil {
		return invalidNumber(at, "30s", "must be a length of time with its unit: s, m, h or d")
	}
	if least := at.Value.Tag.Get("least"); least != "" {
		if shortest, err := durationOf(least); err != nil || while < shortest {
			return invalidNumber(at, "30s", "must be at least "+least)
		}
	}
	target.SetInt(int64(while))
	return nil
}

// durationOf parses a duration; days are written as 90d.
func durationOf(said string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(said, "d"); isDays {
		while, err := time.ParseDuration(days + "h")
		if err == nil && while.Abs() > math.MaxInt64/24 {
			err = strconv.ErrRange
		}
		return 24 * while, err
	}
	return time.ParseDuration(said)
}

// invalidNumber refuses a value of a flag, with the flag's default as the example.
func invalidNumber(at *kong.DecodeContext, example, why string) error {
	if usual := at.Value.Default; strings.Trim(usual, "0s") != "" {
		example = usual
	}
	return Wrong("as in "+at.Value.ShortSummary()+" "+example, "%s %s", at.Value.ShortSummary(), why)
}
