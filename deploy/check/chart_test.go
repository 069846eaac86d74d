// Package check tests what is in deploy.
package check

import (
	"maps"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

func TestTheChartRendersObjectsOfKubernetes(t *testing.T) {
	var cases []struct {
		Values         map[string]any
		Kinds, Refused string
	}
	if err := yaml.UnmarshalStrict(read(t, "chart_test.yaml"), &cases); err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases {
		files, err := render(t, tt.Values)
		if tt.Refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.Refused) {
				t.Errorf("%v\ngot  %v\nwant %s", tt.Values, err, tt.Refused)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v\n%v", tt.Values, err)
		}
		for _, message := range lint.RunAll("../chart", tt.Values, "kb").Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%v\n%s", tt.Values, message)
			}
		}
		kinds := decode(t, files)
		if got := strings.Join(slices.Sorted(maps.Keys(kinds)), " "); got != tt.Kinds {
			t.Errorf("%v\ngot  %s\nwant %s", tt.Values, got, tt.Kinds)
		}
	}
}

func render(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	chart, err := loader.Load("../chart")
	if err != nil {
		t.Fatal(err)
	}
	top, err := util.ToRenderValues(chart, values, common.ReleaseOptions{Name: "kb", Namespace: "kb"}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, top)
}

// decode reads the objects in files strictly: an unknown field is an error. It returns their kinds.
func decode(t *testing.T, files map[string]string) map[string]bool {
	t.Helper()
	kinds := map[string]bool{}
	for name, file := range files {
		for document := range strings.SplitSeq(file, "\n---\n") {
			if !strings.HasSuffix(name, ".yaml") || strings.TrimSpace(document) == "" {
				continue
			}
			var head struct{ Kind, APIVersion string }
			err := yaml.Unmarshal([]byte(document), &head)
			object := map[string]any{
				"v1 Service":                              &core.Service{},
				"apps/v1 StatefulSet":                     &apps.StatefulSet{},
				"apps/v1 Deployment":                      &apps.Deployment{},
				"policy/v1 PodDisruptionBudget":           &policy.PodDisruptionBudget{},
				"networking.k8s.io/v1 Ingress":            &networking.Ingress{},
				"networking.k8s.io/v1 NetworkPolicy":      &networking.NetworkPolicy{},
				"monitoring.coreos.com/v1 ServiceMonitor": &monitoring.ServiceMonitor{},
				"monitoring.coreos.com/v1 PrometheusRule": &monitoring.PrometheusRule{},
			}[head.APIVersion+" "+head.Kind]
			if err == nil {
				err = yaml.UnmarshalStrict([]byte(document), object)
			}
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, document)
			}
			switch o := object.(type) {
			case *apps.StatefulSet:
				checkPod(t, o.Spec.Template.Spec, "data")
			case *apps.Deployment:
				checkPod(t, o.Spec.Template.Spec)
			}
			kinds[head.Kind] = true
		}
	}
	return kinds
}

// checkPod reports what the standard for restricted pods refuses, missing volumes, and variables that are there twice.
func checkPod(t *testing.T, pod core.PodSpec, volumes ...string) {
	t.Helper()
	if s := pod.SecurityContext; !*s.RunAsNonRoot || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Error("the pod may run as root, or without seccomp")
	}
	for _, volume := range pod.Volumes {
		volumes = append(volumes, volume.Name)
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		s := c.SecurityContext
		if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Capabilities.Drop[0] != "ALL" {
			t.Errorf("%s is not restricted", c.Name)
		}
		for _, mount := range c.VolumeMounts {
			if !slices.Contains(volumes, mount.Name) {
				t.Errorf("%s mounts %s, which is no volume", c.Name, mount.Name)
			}
		}
		variables := map[string]bool{}
		for _, variable := range c.Env {
			if variables[variable.Name] {
				t.Errorf("%s is there twice", variable.Name)
			}
			variables[variable.Name] = true
		}
	}
}
