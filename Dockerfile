# urlsieve serve in a container: built from this checkout, run without root.
#   docker build -t urlsieve .
#   docker run -e URLSIEVE_PASSWORD=… -p 6390:6390 -p 8390:8390 -v sieves:/data urlsieve
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
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:8390/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["urlsieve"]
CMD ["serve"]
