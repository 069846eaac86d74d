package client_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

func TestADirectoryIsReadAsItWasMeant(t *testing.T) {
	t.Parallel()
	const head = "member,display_name,active,groups\n"
	for text, want := range map[string]string{
		head + "user:a,A,FALSE,\nuser:b,B,0,\nuser:c,C,false":  "user:a false, user:b false, user:c false",
		"\ufeff" + head + "user:a,A,TRUE,\nuser:b,B,,\nuser:c": "user:a true, user:b true, user:c true",
		head + "\n\"user:a\",\"A\nB\",no,\nb,B,left,":          `line 3: active must be true or false, not "no"`,
		head + "b,B,true,": `line 2: "b" must be one of`,
		head + "b,B,left,": "line 2: \"b\" must be one of",
		head + "user:a,A,,team:b = boss\nuser:a,A,,user:b": "line 2: the role in team:b must be member or maintainer\n" +
			"line 3: user:b is no group\nline 3: user:a is named twice",
		"{\"member\":\"user:a\"}\n\n{\"member\":\"b\"}\n":             `line 3: "b" must be one of`,
		head + "user:a,\xd5\xc5\xc8\xfd,,":                            "line 2 is not in UTF-8",
		"m\x00e\x00":                                                  "line 1 is not in UTF-8",
		"\ufeffmember;display_name;active;groups;\nuser:a;A\n;;;;":    "user:a true",
		head + "user:a,A,true,\nuser:b,B \"the\" builder,true,":       `parse error on line 3, column 10: bare "`,
		"member,active,display_name,groups\nuser:a,false,A,":          "begin with the line member,display_name,active,groups",
		"sep=,\r\n" + head + "user:a,A":                               "user:a true",
		"SEP=;\nmember;display_name;active;groups\nuser:a;A;0;b":      "line 3: \"b\" must be one of",
		"member\tdisplay_name\tactive\tgroups\nuser:a\tA, B\tfalse\t": "user:a false",
		"\xfe\xff\x00m\x00e":                                          "begin with the line",
		"":                                                            "begin with the line",
	} {
		members, _, err := client.ReadDirectory(strings.NewReader(text))
		var got []string
		for _, m := range members {
			got = append(got, m.Member+map[bool]string{true: " true", false: " false"}[m.Active])
		}
		said := strings.Join(got, ", ")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) {
			t.Errorf("%q gives %q, want %q", text, said, want)
		}
	}
}

func TestAnyNameComesBackFromADirectoryFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"@SUM(1)", "'@SUM(1)", "''=1", "'", "''", "'s-Gravenhage", "-", "'-'", "O'Brien", "=HYPERLINK(\"a\";1)", "|x", "'%x",
	} {
		var text strings.Builder
		rows := csv.NewWriter(&text)
		cell := client.DirectoryName(name)
		if err := rows.WriteAll([][]string{client.DirectoryHead, {"user:a", cell, "true", ""}}); err != nil {
			t.Fatal(err)
		}
		members, _, err := client.ReadDirectory(strings.NewReader(text.String()))
		if err != nil || len(members) != 1 || members[0].DisplayName != name {
			t.Errorf("%q comes back from %q as %+v, %v", name, cell, members, err)
		}
		if strings.ContainsRune("=+-@\t|%", rune(cell[0])) {
			t.Errorf("a spreadsheet runs %q", cell)
		}
	}
}

func TestAnImportAsksForNothingThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	pay := []api.Membership{{Group: "team:pay", Role: "member"}}
	present := []api.Member{
		{Member: "team:old"}, {Member: "team:pay", Active: true}, {Member: "user:left"}, {Member: "user:back"},
	}
	wanted := []api.Member{
		{Member: "team:old"},
		{Member: "team:pay", Active: true},
		{Member: "user:left", Groups: pay},
		{Member: "user:back", Active: true, Groups: pay},
		{Member: "user:new", Active: true, Groups: []api.Membership{{Group: "team:old", Role: "member"}}},
		{Member: "user:former", Groups: pay},
	}
	var got []string
	for _, change := range client.DirectoryChanges(present, wanted, false) {
		got = append(got, change.What)
	}
	want := []string{
		"reactivate user:back", "add user:new", "add user:former", "user:back joins team:pay as member",
		"user:former joins team:pay as member", "deactivate user:former",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
