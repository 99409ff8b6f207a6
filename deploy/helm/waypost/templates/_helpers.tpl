{{- define "waypost.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 32 | trimSuffix "-" }}
{{- end }}

{{/* The name of a StatefulSet has 52 characters at most, "-telemetry-processor" with it: it is part of a label of its pods. */}}
{{- define "waypost.fullname" -}}
{{- $name := include "waypost.unchecked" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) }}
{{- fail (printf "waypost: no service can be named %s: a letter comes first, and no dots. Set fullnameOverride" $name) }}
{{- end }}
{{- $name -}}
{{- end }}

{{- define "waypost.unchecked" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if contains (include "waypost.name" .) .Release.Name -}}
{{ .Release.Name | trunc 32 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name (include "waypost.name" .) | trunc 32 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* Labels of every pod. */}}
{{- define "waypost.release" -}}
app.kubernetes.io/name: {{ include "waypost.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "waypost.selector" -}}
{{ include "waypost.release" .root }}
app.kubernetes.io/component: {{ .app }}
{{- end }}

{{- define "waypost.labels" -}}
{{ include "waypost.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* The version of one application may differ during an upgrade. */}}
{{- define "waypost.image" -}}
{{- $own := dig "image" dict (include "waypost.own" . | fromYaml) }}
{{- $version := ternary $own .root.Values.image (or (get $own "tag") (get $own "digest") | empty | not) }}
{{- with get $version "digest" -}}
{{ $.root.Values.image.repository }}@{{ . }}
{{- else -}}
{{ $.root.Values.image.repository }}:{{ default $.root.Chart.AppVersion (get $version "tag") }}
{{- end -}}
{{- end }}

{{/* What the values say of one application, or of the set-up. */}}
{{- define "waypost.own" -}}
{{- ternary .root.Values.setUp (index .root.Values.apps .app) (eq .app "set-up") | toYaml -}}
{{- end }}

{{/* A setting of one application: its own, even if it is empty, before that of all. */}}
{{- define "waypost.setting" -}}
{{- $own := dig "config" dict (include "waypost.own" . | fromYaml) -}}
{{- get (ternary $own .root.Values.config (hasKey $own .name)) .name -}}
{{- end }}

{{/* The variables of one application: those that it reads and that are set, its own before those of all. */}}
{{- define "waypost.environment" -}}
{{- include "waypost.refuseUnread" . -}}
{{- include "waypost.requireSecrets" . -}}
{{- $own := include "waypost.own" . | fromYaml -}}
{{- $variables := .root.Files.Get "files/variables.yaml" | fromYaml -}}
{{- range index $variables .app }}
{{- $ownSecret := dig "secrets" . nil $own }}
{{- $secret := $ownSecret | default (ternary nil (index $.root.Values.secrets .) (hasKey (dig "config" dict $own) .)) }}
{{- $value := include "waypost.setting" (dict "root" $.root "app" $.app "name" .) }}
{{- if $secret }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: { name: {{ $secret.name | quote }}, key: {{ $secret.key | quote }} }
{{- else if $value }}
- name: {{ . }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* A variable that its application does not read would be dropped in silence. */}}
{{- define "waypost.refuseUnread" -}}
{{- $variables := .root.Files.Get "files/variables.yaml" | fromYaml -}}
{{- $own := include "waypost.own" . | fromYaml -}}
{{- range $kind := list "config" "secrets" }}
{{- range $name, $value := dig $kind dict $own }}
{{- if not (has $name (index $variables $.app)) }}
{{- fail (printf "waypost: %s does not read %s: remove it from its %s" $.app $name $kind) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Without them the process would end at its start. */}}
{{- define "waypost.requireSecrets" -}}
{{- $required := dict "webhook-delivery" (list "WAYPOST_SEALING_KEY") "history-projector" (list "DATABASE_URL") "public-api" (list "DATABASE_URL" "WAYPOST_SEALING_KEY" "WAYPOST_PAGE_TOKEN_KEY") "set-up" (list "DATABASE_URL") -}}
{{- $own := include "waypost.own" . | fromYaml -}}
{{- range index $required .app }}
{{- if not (or (dig "secrets" . nil $own) (index $.root.Values.secrets .)) }}
{{- fail (printf "waypost: %s needs %s: name a key of a secret for it, in secrets or in those of %s" $.app . $.app) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "waypost.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "waypost.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
