# The broker of halfcheck, served in a container: docs/broker.md, "In a container".
#
#   docker build --tag halfcheck-broker .
#   docker run --env HALFCHECK_TOKEN=0123456789abcdef --publish 9876:9876 --publish 8081:8081 --publish 4711:4711 \
#       halfcheck-broker --advertise 127.0.0.1:9876
#
# With --build-arg EXTRA=verdict the broker judges its run when it stops, for 600 MB more.
FROM python:3.13-slim AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --quiet --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
ARG EXTRA=broker
COPY --from=wheel /wheels /wheels
RUN pip install --quiet --no-cache-dir "$(ls /wheels/halfcheck-*.whl)[$EXTRA]" && rm -r /wheels
RUN useradd --create-home halfcheck
USER halfcheck
EXPOSE 9876 8081 4711
HEALTHCHECK --interval=2s --timeout=5s --start-period=10s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:4711/health', timeout=4)"]
ENTRYPOINT ["halfcheck", "broker", "--listen", "0.0.0.0", "--port", "9876", "--grpc-port", "8081", "--control-listen", "0.0.0.0:4711"]
