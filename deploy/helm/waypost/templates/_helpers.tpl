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
app.kubernetes.io/version: {{ include "waypost.label" .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | include "waypost.label" | quote }}
{{- end }}

{{/* A version with build metadata has a "+", which no label may have. */}}
{{- define "waypost.label" -}}
{{- regexReplaceAll "[^a-zA-Z0-9]+$" (. | replace "+" "_" | trunc 63) "" -}}
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

{{/* Where one application has a variable from: a secret or a value, its own before those of all; nothing if it is not set. */}}
{{- define "waypost.variable" -}}
{{- $own := include "waypost.own" . | fromYaml -}}
{{- $ownSecret := dig "secrets" .name nil $own -}}
{{- $secret := $ownSecret | default (ternary nil (index .root.Values.secrets .name) (hasKey (dig "config" dict $own) .name)) -}}
{{- if $secret -}}
{{- dict "secret" $secret | toJson -}}
{{- else -}}
{{- with include "waypost.setting" . -}}
{{- dict "value" . | toJson -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The variables of one application: those that it reads and that are set. Kubernetes reads $(NAME) as a variable and $$ as $. */}}
{{- define "waypost.environment" -}}
{{- include "waypost.check" . -}}
{{- $variables := .root.Files.Get "files/variables.yaml" | fromYaml -}}
{{- range $name := index $variables .app }}
{{- $from := include "waypost.variable" (dict "root" $.root "app" $.app "name" $name) | default "{}" | fromJson }}
{{- with $from.secret }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ .name | quote }}, key: {{ .key | quote }} }
{{- end }}
{{- with $from.value }}
- name: {{ $name }}
  value: {{ . | replace "$" "$$" | quote }}
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
