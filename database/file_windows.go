package database

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeAt is the number of bytes that the user may still write beside the file.
func freeAt(file string) (*int64, error) {
	directory, err := windows.UTF16PtrFromString(filepath.Dir(file))
	var free uint64
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(directory, &free, nil, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("ask how much disk is free: %w", err)
	}
	return new(int64(free)), nil
}

// linksTo is the number of names of an open file, 1 if unknown.
func linksTo(file *os.File) int {
	var found windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &found) != nil {
		return 1
	}
	return int(found.NumberOfLinks)
}
