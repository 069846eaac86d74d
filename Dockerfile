FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG RELEASE=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/annals-kb/annals/cmd/annals/terminal.release=$RELEASE" -o /out/annals ./cmd/annals \
    && mkdir -m 0700 /out/data

# No shell and no package manager: the program, certificates, and a user who is not root.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/annals /usr/local/bin/annals
COPY --from=build --chown=nonroot:nonroot /out/data /data
ENV ANNALS_DATA=/data
VOLUME /data
EXPOSE 1933
STOPSIGNAL SIGTERM
# Alive, not well: a database or a model that is away is no reason to start the container again.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s CMD ["annals", "doctor", "--alive"]
ENTRYPOINT ["annals"]
CMD ["serve"]
