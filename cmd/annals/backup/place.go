package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

const (
	bucketScheme = "s3://"
	suffix       = ".backup"
	stamp        = "20060102T150405Z" // also reads a fraction
)

// stamped matches the names that Annals gives. Only those are counted, and deleted.
var stamped = regexp.MustCompile(`^annals-(\d{8}T\d{6}(?:\.\d{3})?Z)\.backup$`)

// Place is where backups are: a directory, or the part of an S3 bucket below a prefix.
type Place struct {
	directory string
	client    *minio.Client // nil for a directory
	bucket    string
}

// At finds the place and the name in an address: FILE, DIRECTORY or s3://BUCKET/KEY. The name is empty if the address
// names a place only.
func At(address string) (p Place, name string, err error) {
	rest, isBucket := strings.CutPrefix(address, bucketScheme)
	if !isBucket {
		info, err := os.Stat(address)
		if err == nil && info.IsDir() {
			return Place{directory: address}, "", nil
		}
		if strings.HasSuffix(address, "/") {
			return Place{directory: address}, "", os.MkdirAll(address, 0o700)
		}
		return Place{directory: filepath.Dir(address)}, filepath.Base(address), nil
	}
	bucket, key, _ := strings.Cut(rest, "/")
	p = Place{bucket: bucket, directory: path.Dir(key + "x")}
	if name = path.Base(key); key == "" || strings.HasSuffix(key, "/") {
		name = ""
	}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	host, plain := strings.CutPrefix(endpoint, "http://")
	p.client, err = minio.New(strings.Trim(strings.TrimPrefix(host, "https://"), "/"), &minio.Options{
		Secure: !plain, Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
	})
	if err == nil {
		err = s3utils.CheckValidBucketName(bucket)
	}
	if err != nil { // without the address, in which keys may stand
		return p, "", terminal.Wrong("as in s3://BUCKET/backups/, with AWS_ENDPOINT_URL for a server other than Amazon's, "+
			"and the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "the address names no bucket: %s", err)
	}
	return p, name, nil
}

// PlaceAt is the place that an address names, even without a slash at its end. It makes no directory.
func PlaceAt(address string) (Place, error) {
	if !strings.HasPrefix(address, bucketScheme) {
		return Place{directory: address}, nil
	}
	p, _, err := At(strings.TrimSuffix(address, "/") + "/")
	return p, err
}

// NewName is the name of a backup of now. Two of one second have two names.
func NewName() string { return "annals-" + time.Now().UTC().Format("20060102T150405.000Z") + suffix }

func (p Place) key(name string) string { return strings.TrimPrefix(path.Join(p.directory, name), "./") }

// Address is the address of a backup there.
func (p Place) Address(name string) string {
	if p.client == nil {
		return filepath.Join(p.directory, name)
	}
	return bucketScheme + p.bucket + "/" + p.key(name)
}

// Put makes a backup there.
func (p Place) Put(ctx context.Context, name string, s Source) (c Contents, err error) {
	if p.client == nil {
		if _, err := os.Lstat(p.Address(name)); err == nil {
			return c, terminal.Wrong("name another file, or a directory", "%s exists already", p.Address(name))
		}
		return s.Make(ctx, p.Address(name))
	}
	directory, err := os.MkdirTemp("", "annals-backup-*")
	if err != nil {
		return c, fmt.Errorf("make a temporary directory: %w", err)
	}
	defer os.RemoveAll(directory) //nolint:errcheck // a leftover is harmless
	file := filepath.Join(directory, name)
	if c, err = s.Make(ctx, file); err != nil {
		return c, err
	}
	_, err = p.client.FPutObject(ctx, p.bucket, p.key(name), file, minio.PutObjectOptions{})
	return c, p.failed("upload", err)
}

// Get copies a backup to a new file.
func (p Place) Get(ctx context.Context, name, file string) error {
	if p.client != nil {
		return p.failed("download", p.client.FGetObject(ctx, p.bucket, p.key(name), file, minio.GetObjectOptions{}))
	}
	from, err := os.Open(p.Address(name))
	if err != nil {
		return terminal.Wrong(whichFile, "the backup cannot be read: %s", err)
	}
	defer from.Close() //nolint:errcheck // it was only read
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy the backup: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("copy the backup: %w", err)
	}
	return nil
}

// Names are the names of the backups there that Annals has named, oldest first. It leaves out names of the future,
// which come from a clock that was wrong.
func (p Place) Names(ctx context.Context) (names []string, err error) {
	const skew = time.Minute // between the clocks of servers
	add := func(name string) {
		if stamped.MatchString(name) && time.Until(MadeAt(name)) < skew {
			names = append(names, name)
		}
	}
	if p.client == nil {
		entries, err := os.ReadDir(p.directory)
		for _, entry := range entries {
			add(entry.Name())
		}
		slices.Sort(names)
		return names, err
	}
	for object := range p.client.ListObjectsIter(ctx, p.bucket, minio.ListObjectsOptions{Prefix: p.key("annals-")}) {
		err = errors.Join(err, object.Err)
		add(path.Base(object.Key))
	}
	slices.Sort(names)
	return names, p.failed("list", err)
}

// MadeAt is the time in a name that Annals has given.
func MadeAt(name string) time.Time {
	var at time.Time
	if parts := stamped.FindStringSubmatch(name); parts != nil {
		at, _ = time.Parse(stamp, parts[1])
	}
	return at
}

// Keep deletes all but the newest backups there. It counts the one that was just made as the newest, whatever its name.
func (p Place) Keep(ctx context.Context, newest int, made string) error {
	names, err := p.Names(ctx)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(names, func(name string) bool { return name == made })
	for _, name := range others[:max(0, len(others)-newest+1)] {
		if p.client == nil {
			err = errors.Join(err, os.Remove(p.Address(name)))
		} else {
			err = errors.Join(err, p.client.RemoveObject(ctx, p.bucket, p.key(name), minio.RemoveObjectOptions{}))
		}
	}
	return p.failed("delete old backups", err)
}

// Newest finds the newest backup there that can be read. It names the newer ones, which cannot.
func (p Place) Newest(
	ctx context.Context, logger *slog.Logger,
) (name string, c Contents, unreadable []string, err error) {
	names, err := p.Names(ctx)
	for _, name := range slices.Backward(names) {
		if c, err = p.describe(ctx, name, logger); err == nil || ctx.Err() != nil {
			return name, c, unreadable, err
		}
		unreadable = append(unreadable, name)
	}
	return "", c, unreadable, err
}

// describe reads the description of a backup, which is written last.
func (p Place) describe(ctx context.Context, name string, logger *slog.Logger) (c Contents, err error) {
	file := p.Address(name)
	if p.client != nil {
		directory, err := os.MkdirTemp("", "annals-backup-*")
		if err != nil {
			return c, fmt.Errorf("make a temporary directory: %w", err)
		}
		defer os.RemoveAll(directory) //nolint:errcheck // a leftover is harmless
		file = filepath.Join(directory, name)
		if err := p.Get(ctx, name, file); err != nil {
			return c, err
		}
	}
	c, db, err := open(ctx, file, name, logger)
	if err == nil {
		err = db.Close()
	}
	return c, err
}

func (p Place) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if p.client == nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s in the bucket %s at %s: %w", what, p.bucket, p.client.EndpointURL().Host, err)
}
