{{/* Refuses what would only fail in a pod. */}}
{{- define "waypost.check" -}}
{{- include "waypost.refuseUnread" . -}}
{{- include "waypost.requireVariables" . -}}
{{- include "waypost.requireLogin" . -}}
{{- include "waypost.requireCertificates" . -}}
{{- if .root.Values.networkPolicies.enabled }}
{{- include "waypost.requirePorts" . -}}
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
{{- define "waypost.requireVariables" -}}
{{- $secrets := dict "webhook-delivery" (list "WAYPOST_SEALING_KEY") "history-projector" (list "DATABASE_URL") "public-api" (list "DATABASE_URL" "WAYPOST_SEALING_KEY" "WAYPOST_PAGE_TOKEN_KEY") "set-up" (list "DATABASE_URL") -}}
{{- range get $secrets .app | default list }}
{{- if not (include "waypost.variable" (dict "root" $.root "app" $.app "name" .)) }}
{{- fail (printf "waypost: %s needs %s: name a key of a secret for it, in secrets or in those of %s" $.app . $.app) }}
{{- end }}
{{- end }}
{{- range list "KAFKA_BROKERS" "SCHEMA_REGISTRY_URL" }}
{{- if not (include "waypost.variable" (dict "root" $.root "app" $.app "name" .) | trim) }}
{{- fail (printf "waypost: %s needs %s: it is empty in config or in that of %s" $.app . $.app) }}
{{- end }}
{{- end }}
{{- end }}

{{/* As the applications themselves refuse it (libs/platform/src/config/kafka-config.ts). */}}
{{- define "waypost.requireLogin" -}}
{{- $password := list "KAFKA_SASL_USERNAME" "KAFKA_SASL_PASSWORD" -}}
{{- $needed := dict "plain" $password "scram-sha-256" $password "scram-sha-512" $password "oauthbearer" (list "KAFKA_OAUTH_TOKEN_URL" "KAFKA_OAUTH_CLIENT_ID" "KAFKA_OAUTH_CLIENT_SECRET") "aws-msk-iam" (list "KAFKA_AWS_REGION") -}}
{{- with include "waypost.setting" (dict "root" .root "app" .app "name" "KAFKA_SASL_MECHANISM") }}
{{- if not (hasKey $needed .) }}
{{- fail (printf "waypost: KAFKA_SASL_MECHANISM is %s, but must be one of %s" . (keys $needed | sortAlpha | join ", ")) }}
{{- end }}
{{- $mechanism := . }}
{{- range get $needed . }}
{{- if not (include "waypost.variable" (dict "root" $.root "app" $.app "name" .)) }}
{{- fail (printf "waypost: %s needs %s, because KAFKA_SASL_MECHANISM is %s" $.app . $mechanism) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "waypost.requireCertificates" -}}
{{- $variables := .root.Files.Get "files/variables.yaml" | fromYaml -}}
{{- range index $variables .app }}
{{- $value := include "waypost.setting" (dict "root" $.root "app" $.app "name" .) }}
{{- if and (hasPrefix "/etc/waypost/certificates/" $value) (not $.root.Values.certificates.secret) }}
{{- fail (printf "waypost: %s of %s is %s, but certificates.secret is empty: name the secret that has this file" . $.app $value) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Of the backends whose address is no secret. */}}
{{- define "waypost.requirePorts" -}}
{{- $variables := .root.Files.Get "files/variables.yaml" | fromYaml -}}
{{- range list "KAFKA_BROKERS" "SCHEMA_REGISTRY_URL" "KAFKA_OAUTH_TOKEN_URL" "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" }}
{{- if has . (index $variables $.app) }}
{{- $name := . }}
{{- $from := include "waypost.variable" (dict "root" $.root "app" $.app "name" .) | default "{}" | fromJson }}
{{- range $from.value | default "" | splitList "," }}
{{- $address := regexReplaceAll "^[a-zA-Z]+://([^/?#]*).*$" (trim .) "${1}" }}
{{- $implied := ternary "443" (ternary "80" "" (hasPrefix "http:" (trim . | lower))) (hasPrefix "https:" (trim . | lower)) }}
{{- $port := regexFind ":[0-9]+$" $address | trimPrefix ":" | default $implied }}
{{- if and $port (not (has $port (toStrings $.root.Values.networkPolicies.backends.ports))) }}
{{- fail (printf "waypost: the network policies do not let %s reach port %s of %s: add it to networkPolicies.backends.ports" $.app $port $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
