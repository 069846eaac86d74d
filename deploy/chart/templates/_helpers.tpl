{{- define "annals.labels" -}}
app.kubernetes.io/name: annals
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "annals.check" }}
{{- if not .Values.image }}
{{- fail "image is empty: set it to where you pushed the image, such as registry.internal/annals:1.2" }}
{{- end }}
{{- if eq .Values.database "sqlite" }}
{{- if gt (int .Values.replicas) 1 }}
{{- fail "SQLite serves one server only: set replicas to 1, or database to postgresql" }}
{{- end }}
{{- else }}
{{- if not .Values.secret }}
{{- fail "secret is empty: with postgresql it must name a Secret with the key DATABASE_URL" }}
{{- end }}
{{- if not .Values.signingKey }}
{{- fail "signingKey is empty: with postgresql it must name a Secret with log.key and log.pub, which all servers sign with" }}
{{- end }}
{{- end }}
{{- if ne (empty .Values.oidc.issuer) (empty .Values.oidc.audience) }}
{{- fail "oidc needs both issuer and audience" }}
{{- end }}
{{- if and .Values.oidc.clientID (or (not .Values.oidc.issuer) (not .Values.secret)) }}
{{- fail "oidc.clientID needs oidc.issuer, and secret with the key ANNALS_OIDC_CLIENT_SECRET" }}
{{- end }}
{{- if and .Values.backup.place .Values.backup.claim }}
{{- fail "backup has place and claim: set one of them" }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if or (regexMatch "^DATABASE_URL$|_KEY$|_SECRET$|_PASSPHRASE$|PASSWORD$" $name) (regexMatch "://[^/]*@" $value) }}
{{- fail (printf "settings.%s is a secret: put it into the Secret that the value secret names" $name) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "annals.publicURL" -}}
{{- .Values.publicURL | default (empty .Values.ingress.host | ternary "" (printf "https://%s" .Values.ingress.host)) | trimSuffix "/" }}
{{- end }}

{{- define "annals.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* The variables, by name, so that a setting can replace one. */}}
{{- define "annals.variables" -}}
{{- $own := dict "ANNALS_DATA" "/data" "ANNALS_LISTEN" ":1933" "ANNALS_METRICS_LISTEN" ":9133" }}
{{- $_ := set $own "ANNALS_PRE_STOP_DELAY" (printf "%ds" (int .Values.preStopDelay)) }}
{{- $_ := set $own "ANNALS_SHUTDOWN_TIMEOUT" (printf "%ds" (int .Values.shutdownTimeout)) }}
{{- $_ := set $own "ANNALS_PUBLIC_URL" (include "annals.publicURL" .) }}
{{- with .Values.oidc }}
{{- $_ := set $own "ANNALS_OIDC_ISSUER" .issuer }}
{{- $_ := set $own "ANNALS_OIDC_AUDIENCE" .audience }}
{{- $_ := set $own "ANNALS_OIDC_TENANT" .tenant }}
{{- $_ := set $own "ANNALS_OIDC_CLAIMS" .claims }}
{{- $_ := set $own "ANNALS_OIDC_CLIENT_ID" .clientID }}
{{- end }}
{{- $place := empty .Values.backup.claim | ternary .Values.backup.place "/backup" }}
{{- if $place }}
{{- $_ := set $own "ANNALS_BACKUP" $place }}
{{- $_ := set $own "ANNALS_BACKUP_SCHEDULE" .Values.backup.schedule }}
{{- $_ := set $own "ANNALS_BACKUP_KEEP" (.Values.backup.keep | int | toString) }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if hasKey $own $name }}
{{- fail (printf "settings.%s: the chart sets it; helm show values names the value for it" $name) }}
{{- end }}
{{- $_ := set $own $name $value }}
{{- end }}
{{- range $name, $value := $own }}
{{- if $value }}
- {name: {{ $name }}, value: {{ quote $value }}}
{{- end }}
{{- end }}
{{- end }}
