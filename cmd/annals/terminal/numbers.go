package terminal

import (
	"cmp"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// NumberMappers parse numbers that may have a least value, and durations with days.
func NumberMappers() []kong.Option {
	return []kong.Option{
		kong.KindMapper(reflect.Int64, numberAs(wholeNumber, "a whole number")),
		kong.KindMapper(reflect.Float64, numberAs(finite, "a number")),
		kong.TypeMapper(reflect.TypeFor[time.Duration](),
			numberAs(durationOf, "a length of time with its unit: s, m, h or d")),
	}
}

// numberAs is the mapper of flags whose values are read by a function. Their messages do not repeat the value.
func numberAs[T cmp.Ordered](read func(string) (T, error), what string) kong.MapperFunc {
	return func(at *kong.DecodeContext, target reflect.Value) error {
		var input string
		if err := at.Scan.PopValueInto("value", &input); err != nil {
			return err
		}
		value, err := read(input)
		if err != nil {
			return errors.New("must be " + what)
		}
		if least := at.Value.Tag.Get("least"); least != "" {
			if smallest, err := read(least); err != nil || value < smallest {
				return errors.New("must be at least " + least)
			}
		}
		target.Set(reflect.ValueOf(value).Convert(target.Type()))
		return nil
	}
}

func wholeNumber(input string) (int64, error) { return strconv.ParseInt(input, 10, 64) }

func finite(input string) (float64, error) {
	n, err := strconv.ParseFloat(input, 64)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		err = strconv.ErrSyntax
	}
	return n, err
}

// durationOf parses a duration; days are written as 90d.
func durationOf(input string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(input, "d"); isDays {
		while, err := time.ParseDuration(days + "h")
		if err == nil && while.Abs() > math.MaxInt64/24 {
			err = strconv.ErrRange
		}
		return 24 * while, err
	}
	return time.ParseDuration(input)
}
