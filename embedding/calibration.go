package embedding

import "math"

// Calibration says how to read an embedder's cosines beside words.
type Calibration struct {
	// Midpoint is the cosine at which a text is as likely as not to be about the question, and Slope how quickly that
	// changes around it: Score is 1/(1+exp(-Slope·(cosine-Midpoint))).
	Midpoint, Slope float64

	// Weight is the share of meaning in the joined score, 0…1; words have the rest. It grows with the embedder's strength.
	Weight float64

	// MinScore is the joined score below which a hit is not worth showing, unless the caller says otherwise.
	MinScore float64
}

// Score maps a cosine to 0…1, where 0.5 is "about this".
func (c Calibration) Score(cosine float64) float64 {
	return 1 / (1 + math.Exp(-c.Slope*(cosine-c.Midpoint)))
}

// Join joins the calibrated scores of meaning and words.
func (c Calibration) Join(meaning, words float64) float64 {
	return c.Weight*meaning + (1-c.Weight)*words
}
