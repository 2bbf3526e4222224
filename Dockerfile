# The service and nothing else: `docker build --tag tallystick .` See docs/operating/image.md.

FROM node:24-bookworm-slim AS packages
WORKDIR /project
COPY . .
RUN npm run build

FROM packages AS rootfs
RUN deploy/image/rootfs.sh dist/packages /rootfs

FROM scratch
COPY --from=rootfs /rootfs /
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 TALLY_DATA_DIR=/var/lib/tallystick MALLOC_ARENA_MAX=1
USER 65532:65532
WORKDIR /var/lib/tallystick
VOLUME /var/lib/tallystick
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s CMD ["/usr/bin/node", "/opt/tallystick/healthcheck.js"]
# The flags are those of `tally` itself, which no shell is there to read.
ENTRYPOINT ["/usr/bin/node", "--max-semi-space-size=16", "--heap-growing-percent=100", "/usr/bin/tally"]
CMD ["serve"]
