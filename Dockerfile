# syntax=docker/dockerfile:1
# One image for all applications: its argument says which one runs, as in "docker run waypost webhook-delivery".
# deploy/README.md says what of this is tested, and how.

FROM node:24-bookworm-slim AS build
WORKDIR /waypost
COPY package.json package-lock.json .npmrc ./
COPY apps/console/package.json apps/console/
COPY libs/compact-store/package.json libs/compact-store/
COPY libs/streams/package.json libs/streams/
COPY packages/client/package.json packages/client/
RUN npm ci
COPY . .
RUN npm run build

FROM node:24-bookworm-slim AS dependencies
WORKDIR /waypost
COPY package.json package-lock.json .npmrc ./
# The workspaces are compiled into dist; what only the console needs is in its bundle.
RUN npm ci --omit=dev --workspaces=false --ignore-scripts && mkdir /data

FROM gcr.io/distroless/nodejs24-debian12:nonroot
LABEL org.opencontainers.image.title="Waypost" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=dependencies /waypost/node_modules /waypost/node_modules
COPY --from=build /waypost/package.json /waypost/LICENSE /waypost/
COPY --from=build /waypost/dist/apps /waypost/dist/apps
COPY --from=build /waypost/dist/libs /waypost/dist/libs
COPY --from=build /waypost/dist/packages/client /waypost/dist/packages/client
COPY --from=build /waypost/dist/console /waypost/dist/console
COPY --from=build /waypost/dist/tools/simulator /waypost/dist/tools/simulator
COPY --from=build /waypost/dist/tools/demo-subscriber /waypost/dist/tools/demo-subscriber
COPY --from=build /waypost/deploy/image /waypost/deploy/image
# The one place that a process writes to, if it does: mount a volume there, all else can be read-only.
COPY --from=dependencies --chown=65532:65532 /data /data
WORKDIR /data
USER 65532:65532
# Probes and scrapes come from other hosts.
ENV NODE_ENV=production WAYPOST_ADMIN_HOST=0.0.0.0 WAYPOST_ADMIN_PORT=9300
EXPOSE 8080 9300
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=6 \
  CMD ["/nodejs/bin/node", "/waypost/deploy/image/healthy.mjs"]
ENTRYPOINT ["/nodejs/bin/node", "/waypost/deploy/image/start.mjs"]
