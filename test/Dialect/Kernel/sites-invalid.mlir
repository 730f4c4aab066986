// RUN: shard-opt %s --split-input-file --verify-diagnostics
// A site says only what its kind has, along axes of the mesh.

// expected-error @+2 {{site 'all_reduce' of kind all_reduce lacks a 'reduction'}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = all_reduce, report = "all_reduce", type = f32, group = ["x"]>]>} {
}

// -----

// expected-error @+2 {{site 'halo_exchange' of kind exchange has a 'reduction', which it does not do}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, reduction = sum>]>} {
}

// -----

// expected-error @+2 {{site 'all_reduce' is no exchange, and cannot be in place or released later}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = all_reduce, report = "all_reduce", type = f32, reduction = sum, in_place = true>]>} {
}

// -----

// expected-error @+2 {{site 'row_plan' addresses rows, but lacks 'rows'}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = row_plan, report = "row_plan", type = i32>]>} {
}

// -----

// expected-error @+2 {{site 'halo_exchange' exchanges dim 1 of a tensor of 1 dims}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, shape = [8], dims = [#local.dim_exchange<dim 1 along ["x"] : [0:4, 4:8] -> [0:5, 3:8]>]>]>} {
}

// -----

// expected-error @+1 {{site 0 is along "y", which the mesh does not have}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = all_reduce, report = "all_reduce", type = f32, reduction = sum, group = ["y"]>]>} {
}

// -----

// expected-error @+1 {{site 0 has 2 intervals along dim 0, expected 3: one for each coordinate along its axes}}
module attributes {kernel.sites = #kernel.site_table<<["x"=3]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, shape = [8], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [0:5, 3:8]>]>]>} {
}

// -----

// expected-error @+3 {{rows of a site have 1 components, 0 slices and 0 dims, expected as many of each}}
// expected-error @+2 {{failed to parse Kernel_SiteAttr parameter 'rows'}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = gather_rows, report = "gather_rows", type = f32, rows = <components = [0]>>]>} {
}

// -----

// expected-error @+2 {{site 'halo_exchange' expects 'group' to be a list of mesh axes}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, group = [1]>]>} {
}

// -----

// expected-error @+2 {{site 'halo_exchange' expects 'dims' to be a list of #local.dim_exchange}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, shape = [8], dims = [1]>]>} {
}

// -----

// expected-error @+2 {{site 'halo_exchange' expects 'parts' to be a list of #local.part}}
// expected-error @+1 {{failed to parse Kernel_SiteTableAttr parameter 'sites'}}
module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, parts = [1]>]>} {
}
