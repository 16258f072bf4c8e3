//! JSON logs, OTLP traces if configured, and Prometheus metrics.

use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::TelemetryOptions;
use crate::failure::Failure;

/// Histogram bounds for waits on people: from a second to a week.
const WAITS: &[f64] =
    &[0.1, 0.5, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 14_400.0, 86_400.0, 604_800.0];

/// Histogram bounds for the time from an answer until the agent takes it: from a millisecond to a day.
const LATENCIES: &[f64] = &[0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0, 3600.0, 86_400.0];

/// Histogram bounds for a turn of a model: from a script to long reasoning.
const TURNS: &[f64] = &[0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Time limit for sending traces to the collector.
const EXPORT_TIME: Duration = Duration::from_secs(10);

/// Log filter for libraries: the database driver would log every value, and the migrations log build paths.
const QUIET: &str = "tokio_postgres=info,postgres=info,refinery_core=warn";

/// Telemetry that has to be flushed at the end.
pub(crate) struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Sends the remaining traces.
    pub(crate) fn end(self) {
        if let Some(Err(error)) = self.traces.map(|traces| traces.shutdown()) {
            eprintln!("holdpoint: the last traces could not be sent: {error}");
        }
    }
}

/// Starts logging, and tracing if an endpoint is configured.
pub(crate) fn start(TelemetryOptions { log, otlp_endpoint }: &TelemetryOptions) -> Result<Telemetry, Failure> {
    let filter = EnvFilter::try_new(format!("{log},{QUIET}")).map_err(|error| Failure::Log(error.to_string()))?;
    let logs = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(std::io::stderr)
        .with_filter(filter);
    let traces = otlp_endpoint.as_deref().map(provider).transpose()?;
    let sent = traces.as_ref().map(|traces| {
        opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
        tracing_opentelemetry::layer().with_tracer(traces.tracer("holdpoint")).with_filter(EnvFilter::new("info"))
    });
    tracing_subscriber::registry().with(logs).with(sent).init();
    Ok(Telemetry { traces })
}

fn provider(endpoint: &str) -> Result<SdkTracerProvider, Failure> {
    // The exporter's own client would use a proxy from the environment.
    let client = reqwest::blocking::Client::builder().no_proxy().timeout(EXPORT_TIME).build();
    let client = client.map_err(|error| Failure::Traces(error.to_string()))?;
    let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().with_http_client(client);
    let exporter = exporter.with_endpoint(endpoint).build().map_err(|error| Failure::Traces(error.to_string()))?;
    let resource = Resource::builder().with_service_name("holdpoint").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

/// Installs the metrics recorder.
pub(crate) fn install_metrics() -> Result<PrometheusHandle, Failure> {
    let failed = |error: metrics_exporter_prometheus::BuildError| Failure::Metrics(error.to_string());
    let waits = Matcher::Full("flow_interaction_wait_duration_seconds".into());
    let latency = Matcher::Full("flow_delivery_latency_seconds".into());
    let builder = PrometheusBuilder::new().set_buckets_for_metric(waits, WAITS).map_err(failed)?;
    let turns = Matcher::Full("flow_model_turn_duration_seconds".into());
    let builder = builder.set_buckets_for_metric(latency, LATENCIES).map_err(failed)?;
    builder.set_buckets_for_metric(turns, TURNS).map_err(failed)?.install_recorder().map_err(failed)
}
