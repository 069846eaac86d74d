# Which program the image gets: compiled here, or that of a release, which --build-arg PROGRAM=released takes as it is.
ARG PROGRAM=compiled

FROM golang:1.26 AS compiled
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG RELEASE=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/annals-kb/annals/cmd/annals/terminal.release=$RELEASE" -o /out/annals ./cmd/annals
WORKDIR /out/data

FROM scratch AS released
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/annals /out/annals
WORKDIR /out/data

FROM $PROGRAM AS program

# No shell and no package manager: the program, certificates, and a user who is not root.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=program /out/annals /usr/local/bin/annals
COPY --from=program --chown=nonroot:nonroot --chmod=0700 /out/data /data
ENV ANNALS_DATA=/data
VOLUME /data
EXPOSE 1933
STOPSIGNAL SIGTERM
# Alive, not well: a database or a model that is away is no reason to start the container again.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s CMD ["annals", "doctor", "--alive"]
ENTRYPOINT ["annals"]
CMD ["serve"]
