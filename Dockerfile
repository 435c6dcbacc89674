# urlsieve serve in a container: built from this checkout, run without root.
#   docker build -t urlsieve .
#   docker run -e URLSIEVE_PASSWORD=… -p 127.0.0.1:6390:6390 -p 127.0.0.1:8390:8390 -v sieves:/data urlsieve
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci && node scripts/pack.mjs /tmp

FROM node:24-bookworm-slim
RUN --mount=type=bind,from=build,source=/tmp,target=/tmp/packed \
    npm install --global --omit=dev /tmp/packed/urlsieve-*.tgz \
    && npm cache clean --force \
    && install -d -o node -g node -m 0700 /data
ENV NODE_ENV=production \
    URLSIEVE_HOST=0.0.0.0 \
    URLSIEVE_DATA=/data \
    URLSIEVE_JSON=true
USER node
VOLUME /data
EXPOSE 6390 8390
# /readyz answers 503 while sieves are being opened and while a fault lasts; /healthz as soon as the server runs.
# The port is that of URLSIEVE_HTTP; without HTTP, RESP has to accept a connection.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["node", "-e", "const { URLSIEVE_HTTP: http, URLSIEVE_PORT: port } = process.env; const end = (ok) => process.exit(ok ? 0 : 1); /^(false|no|off)$/i.test(http) ? require('node:net').connect(port || 6390).on('connect', () => end(true)).on('error', () => end(false)) : fetch(`http://127.0.0.1:${http || 8390}/healthz`).then((r) => end(r.ok), () => end(false))"]
ENTRYPOINT ["urlsieve"]
CMD ["serve"]
