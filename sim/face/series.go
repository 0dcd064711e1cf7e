package face

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Series are the metrics of a face, by the names of its engine.
type Series struct {
	Prefix     string
	Labels     prometheus.Labels // of all
	Values     []Value
	Histograms []Histogram
}

// Value is a counter or a gauge.
type Value struct {
	Name, Help string
	Gauge      bool
	Labels     prometheus.Labels // its own; an empty one takes a common one away
	Get        func(*Snapshot) float64
}

// Histogram shows a measure.
type Histogram struct {
	Name, Help string
	Of         Measure
	Buckets    []float64
	Labels     prometheus.Labels // its own
}

// Metrics returns the handler of /metrics. It is called before the first request.
func (s *Service) Metrics(series *Series) http.Handler {
	c := &collector{m: s.meter}
	for _, v := range series.Values {
		kind := prometheus.CounterValue
		if v.Gauge {
			kind = prometheus.GaugeValue
		}
		c.values = append(c.values, value{series.desc(v.Name, v.Help, v.Labels), kind, v.Get})
	}
	for _, h := range series.Histograms {
		c.hists = append(c.hists, histogram{series.desc(h.Name, h.Help, h.Labels), s.meter.hist(h.Of, h.Buckets)})
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

func (s *Series) desc(name, help string, own prometheus.Labels) *prometheus.Desc {
	labels := prometheus.Labels{}
	for _, from := range []prometheus.Labels{s.Labels, own} {
		for k, v := range from {
			labels[k] = v
			if v == "" {
				delete(labels, k)
			}
		}
	}
	return prometheus.NewDesc(s.Prefix+name, help, nil, labels)
}

// collector gives the registry a consistent picture of one moment.
type collector struct {
	m      *Meter
	values []value
	hists  []histogram
}

type value struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	get  func(*Snapshot) float64
}

type histogram struct {
	desc *prometheus.Desc
	h    *hist
}

// Describe sends nothing: an unchecked collector.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends all series.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	for _, v := range c.values {
		ch <- prometheus.MustNewConstMetric(v.desc, v.kind, v.get(&c.m.snap))
	}
	for _, h := range c.hists {
		ch <- prometheus.MustNewConstHistogram(h.desc, h.h.n, h.h.sum, h.h.cumulative())
	}
}
